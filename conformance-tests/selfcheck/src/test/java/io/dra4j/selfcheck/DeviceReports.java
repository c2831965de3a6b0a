// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** The devices in the status of a claim, if requested; applied, so that those of others stay. */
class DeviceReports {

    final BareDriver driver = Parts.driver();

    /** Reports behind the scenes: a claim is prepared with or without. */
    void report(JsonNode claim, ObjectNode held) {
        if (driver.settings.is("--gpu-device-status")) {
            Pauses.daemon("status", () -> send(claim, held));
        }
    }

    int tries() {
        return 8;
    }

    private void send(JsonNode claim, ObjectNode held) {
        for (int tried = 0; tried < tries(); tried++) {
            try {
                write(claim, held);
                return;
            } catch (ApiClient.Failed e) {
                Life.current().log("The status was not written: " + e.getMessage());
                Pauses.millis(500L << tried);
            }
        }
    }

    void write(JsonNode claim, ObjectNode held) {
        ObjectNode applied = Json.object().put("apiVersion", "resource.k8s.io/v1");
        applied.put("kind", "ResourceClaim");
        ObjectNode metadata = applied.putObject("metadata");
        metadata.put("name", held.path("name").asText());
        metadata.put("namespace", held.path("namespace").asText());
        metadata.put("uid", held.path("uid").asText());
        ObjectNode status = applied.putObject("status");
        for (JsonNode device : held.path("devices")) {
            status.withArray("devices").add(entry(device));
        }
        String manager = "?force=true&fieldManager=" + driver.settings.driver();
        driver.api.write("PATCH", path(held) + "/status" + manager, "application/apply-patch+yaml", applied);
    }

    static String path(ObjectNode held) {
        return ApiClient.claim(new ClaimId(
                held.path("namespace").asText(),
                held.path("name").asText(),
                held.path("uid").asText()));
    }

    ObjectNode entry(JsonNode device) {
        ObjectNode entry = Json.object().put("driver", driver.settings.driver());
        entry.put("pool", device.path("pool").asText());
        entry.put("device", device.path("device").asText());
        if (!device.path("share").asText().isEmpty()) {
            entry.put("shareID", device.path("share").asText());
        }
        entry.putObject("data").put("model", "LATEST-GPU-MODEL");
        return entry;
    }
}
