// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/secrets.h"

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
      {"https://0123456789abcdef01@host/a", "https://***@host/a"},
      {"a://u:p@h,b://v:q@i", "a://u:***@h,b://v:***@i"},
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
      {"--api-keys=a1", "--api-keys=***"},
      {"HF_TOKEN_2=abc", "HF_TOKEN_2=***"},
      {"--hf-token-read=abc", "--hf-token-read=***"},
      {"--openai_api_key_prod=abc", "--openai_api_key_prod=***"},
      {"--auth_header=abc", "--auth_header=***"},
      {"--password1=a --token1=b", "--password1=***"},
      {"--wandbKey=abc", "--wandbKey=***"},
      {"--awskey=abc", "--awskey=***"},
      {"DBPASS=abc", "DBPASS=***"},
      {"x;AccountKey=ab+/c==;y", "x;AccountKey=***;y"},
      {"--access-token=123456", "--access-token=***"},
      {"--passphrase=correct horse battery staple", "--passphrase=***"},
      {"--password=hun;ter2", "--password=***"},
      {"--password=p&w,x(y)z}", "--password=***"},
      {"--api_key=abc,def", "--api_key=***"},
      {"HF_TOKEN=abc PASSWORD=d python x.py", "HF_TOKEN=*** PASSWORD=*** python x.py"},
      {R"({"password": "ab\"cd", "lr": 1})", R"({"password": "***", "lr": 1})"},
      {R"({"api_key":["abc","def"],"lr":1})", R"({"api_key":***,"lr":1})"},
      {"os.environ.setdefault('HF_TOKEN', 'abc')", "os.environ.setdefault('HF_TOKEN', '***')"},
      {"password: str = 'abc'", "password: str = '***'"},
      {"connect(password=f'a{b}')", "connect(password=f'***')"},
      {"train --password x --lr 1", "train --password *** --lr 1"},
      {"Authorization: Negotiate abc", "Authorization: Negotiate ***"},
      {"Authorization: abc def", "Authorization: ***"},
      {"hf_abcdefghijklmnopqrstuvwxyzABCD", "***"},
      {"data=hf_abcdefghijklmnopqrstuvwxyzABCD", "data=***"},
      {"nvapi-abcdefghijklmnopqrstuvwxyz0123456789ABCD", "***"},
      {"gsk_0123456789abcdefghijklmnopqrstuvwxyz0123", "***"},
      {"dckr_pat_0123456789abcdefghij", "***"},
      {"sk-proj-0123456789-abcdefghij", "***"},
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
                           "/home/me/hf_finetune_llama.py",
                           "wandb_sweep_train1.py",
                           "/ckpt/hf_llama_7b_finetune/x",
                           "--model=hf_pretrained_model",
                           "/data/sk-resnet-50-with-a-name-of-many-words",
                           "--use_auth_token=true",
                           "--token=false",
                           "--token=None",
                           "--total_token=300B",
                           "--token=300B",
                           "--caption_key=text",
                           "--placeholder_token=<s>",
                           "--two-pass=yes",
                           R"({"key":"q_proj"})",
                           "docker://nvcr.io:nvidia/pytorch@sha256:0123",
                           "tcp://[fe80::1]:29500/a@b",
                           "tcp://host:29500",
                           "--num_key_value_heads=8",
                           "--key_dim=64",
                           "--hotkey=x",
                           "--compass=x",
                           "--tokenizer_name_or_path=a/b",
                           "--rdzv-id=job",
                           "--max-token=4096",
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
      {{"x", "--api-key", "123456789"}, "x --api-key ***"},
      {{"x", "--use_auth_token", "true"}, "x --use_auth_token true"},
      {{"x", "-p", "config.yaml", "-p", "8080:80"}, "x -p config.yaml -p 8080:80"},
      {{"curl", "-u", "me:pw", "https://h"}, "curl -u me:*** https://h"},
      {{"docker", "run", "--user", "1000:1000"}, "docker run --user 1000:1000"},
      {{"wandb", "login", "0123456789abcdef0123456789abcdef01234567"}, "wandb login ***"},
      {{"git", "checkout", "0123456789abcdef0123456789abcdef01234567"},
       "git checkout 0123456789abcdef0123456789abcdef01234567"},
  };
  for (const auto& one : cases) EXPECT_EQ(MaskedCommandLine(one.arguments), one.line);
}

TEST(SecretsTest, Variables) {
  EXPECT_EQ(MaskedValue("TORCH_HUB_TOKEN", "abc"), "***");
  for (const char* name : {"TORCH_HUB_TOKEN_RO", "XLA_API_KEY", "NCCL_PROXY_TOKEN", "SLURM_JWT"})
    EXPECT_EQ(MaskedValue(name, "123456"), "***") << name;
  EXPECT_EQ(MaskedValue("OMPI_MCA_url", "tcp://u:pw@h"), "tcp://u:***@h");
  EXPECT_EQ(MaskedValue("NCCL_DEBUG", "INFO"), "INFO");
  EXPECT_EQ(MaskedValue("TORCH_KEY", ""), "");
}

// Each of these takes minutes where a part is read again for each sign in it.
TEST(SecretsTest, LongArgumentsAreReadOnce) {
  for (const char* part :
       {"://", "s3://bucket/file,", "a=", "key=", "\"", "\\", "[", "password:", "--token "}) {
    std::string text;
    while (text.size() < 1 << 19) text += part;
    EXPECT_FALSE(MaskSecrets(text).empty());
  }
}

TEST(SecretsTest, WhatIsMaskedStaysSo) {
  for (const char* text : {"--password=***", "https://u:***@h", "Bearer ***", "{'token': '***'}"})
    EXPECT_EQ(MaskSecrets(text), text);
}

}  // namespace
}  // namespace traceinject
