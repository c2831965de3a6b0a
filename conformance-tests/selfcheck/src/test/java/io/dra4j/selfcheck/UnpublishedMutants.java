// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** Drivers of which no claim can have a device; {@link UnpublishedDriverIT} has them tested. */
final class UnpublishedMutants {

    private UnpublishedMutants() {}

    /** Lists and watches slices, and writes none. */
    @Altered(id = "M-137")
    static final class Silent extends SlicePlan {
        @Override
        void apply(List<JsonNode> existing) {
            Life.current().log("E1123 01:02:03.000004       1 main.go:7] no devices were found");
        }
    }

    /** Writes in an encoding that the API server does not read. */
    @Altered(id = "M-138")
    static final class Outdated extends ApiClient {
        @Override
        JsonNode post(String path, JsonNode body) {
            return write("POST", path, "application/x-thrift", body);
        }
    }

    /** Has no socket, and no slices, before there is a device. */
    @Altered(id = "M-230")
    static final class Waiting extends BareDriver {
        @Override
        void start() {
            Life.current().log("I1123 01:02:03.000004       1 main.go:7] No device detected, retrying in 1m0s");
            Pauses.forEver();
        }
    }

    @Altered(id = "M-231")
    static final class Panicking extends BareDriver {
        @Override
        void start() {
            Life.current().log("panic: no PCIe root\n\ngoroutine 1 [running]:\nmain.main()\n\tmain.go:75 +0x17");
            Life.current().end(2);
        }
    }

    /** Serves the first instance on a node only: another one ends. */
    @Altered(id = "M-139")
    static final class Alone extends BareDriver {
        @Override
        void start() throws java.io.IOException {
            if (!settings.podUid().isEmpty()) {
                throw new java.io.IOException("another instance of the driver may be running");
            }
            super.start();
        }
    }
}
