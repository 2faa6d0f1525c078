// SPDX-License-Identifier: Apache-2.0
#include "analyzer/http/http_message.h"

#include <gtest/gtest.h>

#include "analyzer/http/url_text.h"

namespace traceinject {
namespace {

TEST(HttpMessage, AcceptsWhatIsNotRefused) {
  for (const char* header :
       {"gzip", "br, gzip", "GZIP;q=0.5", "deflate,gzip ;q=1.000", "*", "br;q=1, *;q=0.1"})
    EXPECT_TRUE(AcceptsWord(header, "gzip")) << header;
  for (const char* header : {"", "br", "gzip;q=0", "gzip;q=0.000", "*;q=0", "gzip; q=0, *", "gzipx",
                             ",", ";q=1", "gzip;level=9;q=0"})
    EXPECT_FALSE(AcceptsWord(header, "gzip")) << header;
}

TEST(HttpMessage, HeadersAreFoundByTheirName) {
  const HttpRequest request = {"GET", "/", {{"host", "x"}, {"accept", "y"}}};
  EXPECT_EQ(request.header("accept"), "y");
  EXPECT_EQ(request.header("cookie"), "");
}

TEST(UrlText, IsReadAsItIsWritten) {
  EXPECT_EQ(PercentEncoded("a b/c.d-e_f~%é\n"), "a%20b/c.d-e_f~%25%C3%A9%0A");
  for (const std::string text : {"", "plain", "a b?c#d", "\xff", "100%/é"})
    EXPECT_EQ(PercentDecoded(PercentEncoded(text)), text);
  EXPECT_EQ(PercentDecoded("%2f%2F"), "//");
  for (const char* wrong : {"%", "%1", "%g1", "%1g", "% 1", "a%-1"})
    EXPECT_FALSE(PercentDecoded(wrong)) << wrong;
}

}  // namespace
}  // namespace traceinject
