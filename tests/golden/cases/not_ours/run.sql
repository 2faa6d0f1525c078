CREATE TABLE songs (title TEXT);
