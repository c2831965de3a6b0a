// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;

/** Drivers of which no claim can have a device; {@link UnpublishedDriverIT} has them tested. */
final class UnpublishedMutants {

    private UnpublishedMutants() {}

    /** Lists and watches slices, and writes none. */
    @Mutant(id = "M-137", what = "publishes nothing")
    static final class Silent extends SlicePlan {
        @Override
        void apply(List<JsonNode> existing) {
            Life.current().log("E1123 01:02:03.000004       1 main.go:7] no devices were found");
        }
    }

    /** Writes in an encoding that the API server does not read. */
    @Mutant(id = "M-138", what = "writes slices in an encoding that the API server does not read")
    static final class Outdated extends ApiClient {
        @Override
        JsonNode post(String path, JsonNode body) {
            return write("POST", path, "application/x-thrift", body);
        }
    }

    /** Serves the first instance on a node only: another one ends. */
    @Mutant(id = "M-139", what = "runs one instance on a node")
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
