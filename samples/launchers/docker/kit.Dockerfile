# SPDX-License-Identifier: Apache-2.0
# The image that pods copy the kit from: docker build -f kit.Dockerfile -t registry.example/traceinject-kit build/portable/portable
FROM busybox
COPY . /kit/
