INSERT INTO meta VALUES ('base_ns', 1);
