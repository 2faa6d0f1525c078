// SPDX-License-Identifier: Apache-2.0
#include "injector/core/secrets.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(SecretsTest, WhatIsMaskedInATextAndWhatStays) {
  const struct {
    const char *text, *masked;
  } cases[] = {
      {"postgresql://me:hunter2@db:5432/runs", "postgresql://me:***@db:5432/runs"},
      {"http://u:p@w@proxy:3128", "http://u:***@proxy:3128"},
      {"--store=redis://:hunter2@cache", "--store=redis://:***@cache"},
      {"s3://AKIAIOSFODNN7EXAMPLE:wJalr/K7MDENG/bPx@bucket/data", "s3://***:***@bucket/data"},
      {"https://ghp_0123456789abcdef@github.com/a/b", "https://***@github.com/a/b"},
      {"Authorization: Bearer abc.def", "Authorization: Bearer ***"},
      {"authorization: basic dTpw", "authorization: basic ***"},
      {"X-Api-Key: abc", "X-Api-Key: ***"},
      {"curl -H bearer abc", "curl -H bearer ***"},
      {R"({"hf_token": "abc", "lr": 0.1})", R"({"hf_token": "***", "lr": 0.1})"},
      {R"({\"hf_token\": \"abc\"})", R"({\"hf_token\": \"***\"})"},
      {"{'db': {'password': 'a b'}}", "{'db': {'password': '***'}}"},
      {"logger.key=abc", "logger.key=***"},
      {"+trainer.logger.api_key=abc", "+trainer.logger.api_key=***"},
      {"key=abc,name=x", "key=***,name=x"},
      {"import wandb; wandb.login(key='abc def', relogin=True)",
       "import wandb; wandb.login(key='***', relogin=True)"},
      {"os.environ['HF_TOKEN'] = 'abc'; train()", "os.environ['HF_TOKEN'] = '***'; train()"},
      {"https://a.blob.core.windows.net/c?sv=2022&sig=ab%2Bc&se=1",
       "https://a.blob.core.windows.net/c?sv=2022&sig=***&se=1"},
      {"https://b.s3.amazonaws.com/o?X-Amz-Credential=A/2&X-Amz-Signature=0f",
       "https://b.s3.amazonaws.com/o?X-Amz-Credential=***&X-Amz-Signature=***"},
      {"--wandb-api-key=abc", "--wandb-api-key=***"},
      {"--clientSecret=abc", "--clientSecret=***"},
      {"--dbpassword=12345", "--dbpassword=***"},
      {"hf_abcdefghijklmnopqrstuv", "***"},
      {"data=hf_abcdefghijklmnopqrstuv", "data=***"},
      {"nvapi-abcdefghijklmnop", "***"},
      {"x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "x ***"},
  };
  for (const auto& one : cases) EXPECT_EQ(MaskSecrets(one.text), one.masked);
}

TEST(SecretsTest, WhatLooksLikeASecretAndIsNone) {
  for (const char* text : {"--max-tokens=512",
                           "--num_tokens=5",
                           "--token=512",
                           "tokenizer=gpt2",
                           "--tokenizer=a/b",
                           "--author=me",
                           "--key-frames=yes",
                           "--text_key=text",
                           "--image-key=jpg",
                           "--pad_token=[PAD]",
                           "--eos-token=</s>",
                           "--tokens-per-batch=4096",
                           "keyboard=us",
                           "--pass=3",
                           "--passes=all",
                           "--monkey=ape",
                           "--bypass=x",
                           "host:8080",
                           "http://host:8080/a@2x.png",
                           "http://host/a@b:c",
                           "http://me@host/x",
                           "git@github.com:a/b.git",
                           "a::key::b",
                           "std::token",
                           "--lr=0.1",
                           "task-specific-model-with-a-long-name",
                           "sk-learn-model-with-a-long-name",
                           "/data/secret.txt",
                           "sigma=0.1",
                           "--significance=2",
                           "--signal=USR1",
                           "--key=",
                           "",
                           "=",
                           ":",
                           "://",
                           "key",
                           "12:30"}) {
    EXPECT_EQ(MaskSecrets(text), text);
  }
}

TEST(SecretsTest, ValuesInArgumentsOfTheirOwn) {
  const struct {
    std::vector<std::string> arguments;
    const char* line;
  } cases[] = {
      {{"mysql", "-u", "me", "-p", "hunter2"}, "mysql -u me -p ***"},
      {{"x", "-p", "8080"}, "x -p 8080"},
      {{"x", "--pass", "hunter2", "--pwd", "a", "--pass", "3"}, "x --pass *** --pwd *** --pass 3"},
      {{"train.py", "--lr=0.1", "--hf_token", "xyz", "--steps", "5"},
       "train.py --lr=0.1 --hf_token *** --steps 5"},
      {{"x", "--password", "12345"}, "x --password ***"},
      {{"x", "--password", "--verbose"}, "x --password --verbose"},
      {{"x", "--max-tokens", "512", "--author", "me", "--key-frames", "yes"},
       "x --max-tokens 512 --author me --key-frames yes"},
      {{"curl", "-H", "Authorization: Bearer abc"}, "curl -H Authorization: Bearer ***"},
      {{"python", "-c", "login(key='abc')"}, "python -c login(key='***')"},
  };
  for (const auto& one : cases) EXPECT_EQ(MaskedCommandLine(one.arguments), one.line);
}

TEST(SecretsTest, Variables) {
  EXPECT_EQ(MaskedValue("TORCH_HUB_TOKEN", "abc"), "***");
  EXPECT_EQ(MaskedValue("OMPI_MCA_url", "tcp://u:pw@h"), "tcp://u:***@h");
  EXPECT_EQ(MaskedValue("NCCL_DEBUG", "INFO"), "INFO");
  EXPECT_EQ(MaskedValue("TORCH_KEY", ""), "");
}

}  // namespace
}  // namespace traceinject
