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
      {"f(password=os.environ.get('x') or 'S3cret')", "f(password=***)"},
      {"f(api_key=str('S3cret'), n=1)", "f(api_key=***, n=1)"},
      {"f(password=('S3cret'))", "f(password=***)"},
      {"{'Authorization': 'Bearer ' + 'S3cret'}", "{'Authorization': ***}"},
      {"{'Authorization': 'Bearer '+'S3cret'}", "{'Authorization': ***}"},
      {"token = get('T') or 'S3cret'", "token = ***"},
      {"a(); password='abc' 'S3cret'", "a(); password=***"},
      {"a(); password='abc'\\''S3cret'; b", "a(); password=***; b"},
      {"token = \"\"\"S3cret\"\"\"; go()", "token = \"\"\"***\"\"\"; go()"},
      {"token = '''S3'cret'''; go()", "token = '''***'''; go()"},
      {R"(token = \"\"\"S3cret\"\"\"; go())", "token = \\***; go()"},
      {"{'token': br'S3cret'}", "{'token': br'***'}"},
      {"token: Optional[str] = 'S3cret'", "token: Optional[str] = '***'"},
      {"HfApi(token=\n  'S3cret')", "HfApi(token=\n  '***')"},
      {"wandb.login(\n    key='S3cret',\n)", "wandb.login(\n    key='***',\n)"},
      {"wandb.login(0, 'S3cret')", "wandb.login(0, '***')"},
      {"password: >-\n  S3\n  cret\nlr: 1", "password: >-\n  ***\nlr: 1"},
      {"export T_TOKEN=${T_TOKEN:-S3cret}; x", "export T_TOKEN=***; x"},
      {"Cookie: a=b; c=S3cret", "Cookie: ***"},
      {"a -----BEGIN RSA PRIVATE KEY-----\nS3cret\n-----END RSA PRIVATE KEY----- b", "a *** b"},
      {"-----BEGIN PRIVATE KEY-----S3cret", "***"},
      {"user:S3cret@proxy:3128", "user:***@proxy:3128"},
      {"--http_proxy=user:S3cret@proxy:3128", "--http_proxy=user:***@proxy:3128"},
      {"git@user:S3cr@et@host", "git@user:***@host"},
      {"https://SecretTokenOfLetters@github.com/o/r", "https://***@github.com/o/r"},
      {"git+https://abc123def456@github.com/o/r", "git+https://***@github.com/o/r"},
      {"mysql://me:12345/S3cret@db:3306/runs", "mysql://me:***@db:3306/runs"},
      {"mysql://me:12345/S3cret@db", "mysql://me:***@db"},
      {"redis://:12/S3cret@h", "redis://:***@h"},
      {"redis://:p#w@h redis://:p?w@h", "redis://:***@h redis://:***@h"},
      {"amqp://u:p w@h/", "amqp://u:***@h/"},
      {"http://u:p<w@h/", "http://u:***@h/"},
      {"https://hooks.slack.com/services/T000/B000/S3cret", "https://***"},
      {"sk-svcacct-0123456789abcdef0123-456789", "***"},
      {"sk-or-v1-0123456789abcdef0123456789abcdef", "***"},
      {"wandb_v1_abcdefghijklmnop_qrstuvwxyz0123456789", "***"},
      {"pypi-AgEIcHlwaS5vcmcCJDabcdefghijklmnop", "***"},
      {"hvs.CAESIabcdefghijkl", "***"},
      {"glc_eyJvIjoiMTIzIiwibiI6InMzY3IzdCJ9", "***"},
      {"dapi0123456789abcdef0123456789abcdef", "***"},
      {"r8_0123456789abcdefABCDEF0123456789abcdefA", "***"},
      {"SG.abcdefghijklmnop.abcdefghijklmnopqrstuv", "***"},
      {"ya29.a0AfH6SMBabcdefghijklmnopqrstuv", "***"},
      {"api_org_abcdefghijklmnopqrstuvwxyzabcdefgh", "***"},
      {"x-hf_abcdefghijklmnopqrstuvwxyzabcdefgh", "x-***"},
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
                           "PWD=/home/me",
                           "--sig=5",
                           "sorted(x, key=len)",
                           "sorted(x, key=lambda a: a[1])",
                           "Who has the key: you",
                           "s3://bucket/run-2024@v1/x",
                           "http://localhost:8080/v1@x",
                           "nvcr.io/nvidia/pytorch:24.01@sha256:abc",
                           "abfss://my-training-data@account.dfs.core.windows.net/a",
                           "don't use -x, it's slow",
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
      {{"x", "--private_key", "-----BEGIN KEY-----\nS3cret"}, "x --private_key ***"},
      {{"x", "--password", "-S3cret", "--lr", "1"}, "x --password *** --lr 1"},
      {{"x", "--use_auth", "-token", "S3cret"}, "x --use_auth -token ***"},
      {{"x", "--api_keys", "k1", "S3cret2", "--lr", "1"}, "x --api_keys *** *** --lr 1"},
      {{"x", "--secrets", "a=1", "b=S"}, "x --secrets *** ***"},
      {{"x", "--hf_token", "=", "S3cret"}, "x --hf_token = ***"},
      {{"mysql", "-uroot", "-pS3cret"}, "mysql -uroot -p***"},
      {{"/usr/bin/mysql", "-p", "gpu.1"}, "/usr/bin/mysql -p ***"},
      {{"x", "-pS3cret", "-pthread", "-p8080"}, "x -p*** -pthread -p8080"},
      {{"curl", "-uroot:S3cret", "--user=root:S3cret"}, "curl -uroot:*** --user=root:***"},
      {{"curl", "--userpwd", "me:S3cret", "-u", "key_0:"}, "curl --userpwd me:*** -u ***:"},
      {{"curl", "-u", "me:12345"}, "curl -u me:***"},
      {{"docker", "login", "-p", "S3cret.dot"}, "docker login -p ***"},
      {{"docker", "run", "--user", "me:staff"}, "docker run --user me:staff"},
      {{"wandb", "login", "S3cret"}, "wandb login ***"},
      {{"wandb", "login", "--relogin", "S3cret"}, "wandb login --relogin ***"},
      {{"bash", "-c", "train --wandb_key  S --lr 1"}, "bash -c train --wandb_key  *** --lr 1"},
      {{"bash", "-c", "train --wandb_key \"S 3\" --lr 1"},
       "bash -c train --wandb_key \"***\" --lr 1"},
      {{"bash", "-c", "train --wandb_key \\\n  S --lr 1"},
       "bash -c train --wandb_key \\\n  *** --lr 1"},
      {{"bash", "-c", "ssh h 'train --wandb_key S'"}, "bash -c ssh h 'train --wandb_key ***'"},
      {{"bash", "-c", "curl -u me:S h; x -u h"}, "bash -c curl -u me:*** h; x -u h"},
      {{"bash", "-c", "docker login -u me -p S"}, "bash -c docker login -u me -p ***"},
      {{"bash", "-c", "wandb login S && python t.py"}, "bash -c wandb login *** && python t.py"},
      {{"bash", "-c", "mysql -u root -pS3cret db"}, "bash -c mysql -u root -p*** db"},
      {{"fish", "-c", "set -x HF_TOKEN S; t.py"}, "fish -c set -x HF_TOKEN ***; t.py"},
      {{"x", "-p", "bf16-mixed", "-p", "fp16"}, "x -p bf16-mixed -p fp16"},
      {{"srun", "-p", "gpu", "train"}, "srun -p gpu train"},
      {{"x", "--prompt_key", "prompt", "--state_key", "model", "--class_token", "gap"},
       "x --prompt_key prompt --state_key model --class_token gap"},
      {{"x", "--sig", "5", "--pwd", "/home/me"}, "x --sig 5 --pwd /home/me"},
      {{"git", "checkout", "0123456789abcdef0123456789abcdef01234567"},
       "git checkout 0123456789abcdef0123456789abcdef01234567"},
  };
  for (const auto& one : cases) EXPECT_EQ(MaskedCommandLine(one.arguments), one.line);
}

TEST(SecretsTest, NamesOfSecrets) {
  for (const char* name : {"creds", "cred", "userpw", "mypass", "dbpwd", "passcode", "psw", "pat",
                           "cookie", "session-cookie", "sas", "accesskeyid", "ngckey", "webhook",
                           "slack_webhook_url", "seed-phrase", "otp", "connection_string"})
    EXPECT_EQ(MaskedCommandLine({"x", std::string("--") + name, "S3cret"}),
              std::string("x --") + name + " ***");
}

TEST(SecretsTest, Variables) {
  EXPECT_EQ(MaskedValue("TORCH_HUB_TOKEN", "abc"), "***");
  for (const char* name : {"TORCH_HUB_TOKEN_RO", "XLA_API_KEY", "NCCL_PROXY_TOKEN", "SLURM_JWT"})
    EXPECT_EQ(MaskedValue(name, "123456"), "***") << name;
  EXPECT_EQ(MaskedValue("OMPI_MCA_url", "tcp://u:pw@h"), "tcp://u:***@h");
  EXPECT_EQ(MaskedValue("NCCL_DEBUG", "INFO"), "INFO");
  EXPECT_EQ(MaskedValue("TORCH_KEY", ""), "");
}

// These once took minutes, or would where a part is read again for each sign in it.
constexpr const char* kParts[] = {"://",         "s3://bucket/file,",
                                  "a=",          "key=",
                                  "\"",          "\\",
                                  "[",           "password:",
                                  "--token ",    " ",
                                  "\" ",         "'",
                                  "='",          "\n",
                                  "=\n",         "a",
                                  "@",           "a:b@",
                                  "key=(",       "login(",
                                  "--keys ",     "\\\n",
                                  "'a' ",        "\\\"",
                                  "]",           "-",
                                  "-----BEGIN ", "://a:b c",
                                  "bearer ",     "hf_",
                                  "eyJ.",        "key: "};

std::string Repeated(const std::string& part, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

TEST(SecretsTest, LongArgumentsAreReadOnce) {
  for (const char* part : kParts) {
    for (const char* before : {"", "--token=", "x --tokens ", "login('"})
      EXPECT_FALSE(MaskSecrets(before + Repeated(part, 1 << 17)).empty()) << part;
  }
}

TEST(SecretsTest, ALookBackForANameIsShort) {
  for (const char* part : kParts) {
    const std::string text = Repeated(part, 1 << 12);
    for (std::size_t at = 0; at <= text.size(); ++at) {
      const std::string_view name = NameBefore(text, at);
      EXPECT_LE(static_cast<std::size_t>(text.data() + at - name.data()), kLongestName) << part;
    }
  }
}

TEST(SecretsTest, WhatIsMaskedStaysSo) {
  for (const char* text : {"--password=***", "https://u:***@h", "Bearer ***", "{'token': '***'}"})
    EXPECT_EQ(MaskSecrets(text), text);
}

}  // namespace
}  // namespace traceinject
