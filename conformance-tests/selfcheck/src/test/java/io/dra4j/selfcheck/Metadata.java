// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Files that describe their devices to containers, as KEP-5304 has them, if asked for. */
class Metadata {

    final Settings settings = Parts.driver().settings;

    Path folder(String uid) {
        return settings.data().resolve("metadata").resolve(uid);
    }

    private boolean isOff() {
        return !settings.is("--gpu-device-metadata");
    }

    /** Adds the mount to the record of a device. */
    void describe(ObjectNode held, ObjectNode device) {
        if (isOff()) {
            return;
        }
        String request = device.at("/requests/0").asText();
        ObjectNode mount = device.putObject("mount");
        mount.put(
                "hostPath",
                folder(held.path("uid").asText()).resolve(request + ".json").toString());
        mount.put(
                "containerPath",
                "/var/run/kubernetes.io/dra-device-attributes/resourceclaims/%s/%s/%s-metadata.json"
                        .formatted(held.path("name").asText(), request, settings.driver()));
        mount.putArray("options").add("ro").add("bind");
    }

    void write(ObjectNode held) {
        if (isOff()) {
            return;
        }
        try {
            Files.createDirectories(folder(held.path("uid").asText()));
            for (JsonNode device : held.path("devices")) {
                Files.writeString(
                        Path.of(device.at("/mount/hostPath").asText()),
                        versions().stream()
                                .map(version -> content(held, device, version) + "\n")
                                .collect(Collectors.joining()));
            }
        } catch (IOException e) {
            throw new Refused("Can't write the metadata: " + e);
        }
    }

    /** The versions of the documents, in their order. */
    List<String> versions() {
        return List.of("v1beta1", "v1alpha1");
    }

    ObjectNode content(ObjectNode held, JsonNode first, String version) {
        ObjectNode content = Json.object().put("apiVersion", "metadata.resource.k8s.io/" + version);
        content.put("kind", "DeviceMetadata");
        ObjectNode metadata = content.putObject("metadata").put("generation", 1);
        for (String field : new String[] {"name", "namespace", "uid"}) {
            metadata.put(field, held.path(field).asText());
        }
        ObjectNode request = content.putArray("requests").addObject();
        request.put("name", first.path("request").asText());
        for (JsonNode device : held.path("devices")) {
            if (device.path("requests").equals(first.path("requests"))) {
                ObjectNode described = request.withArray("devices").addObject();
                described.put("driver", settings.driver());
                described.put("pool", device.path("pool").asText());
                described.put("name", device.path("device").asText());
            }
        }
        return content;
    }

    void delete(String uid) {
        if (isOff() || !Files.isDirectory(folder(uid))) {
            return;
        }
        try (Stream<Path> files = Files.list(folder(uid))) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(folder(uid));
        } catch (IOException e) {
            throw new Refused("Can't remove the metadata: " + e);
        }
    }
}
