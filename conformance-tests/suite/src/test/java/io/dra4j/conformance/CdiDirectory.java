// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.ClaimAnswer.PreparedDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The CDI directory as a container runtime sees it: ids are resolved by the content of the specs,
 * and a spec that breaks a rule of CDI is an error.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI</a>
 */
final class CdiDirectory {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern KIND =
            Pattern.compile(
                    "[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?/[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?");
    private static final Pattern NAME =
            Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?");
    private static final List<String> SPEC_FIELDS =
            List.of("cdiVersion", "kind", "annotations", "devices", "containerEdits");
    private static final List<String> DEVICE_FIELDS =
            List.of("name", "annotations", "containerEdits");
    private static final List<String> EDIT_FIELDS =
            List.of(
                    "env",
                    "deviceNodes",
                    "netDevices",
                    "hooks",
                    "mounts",
                    "intelRdt",
                    "additionalGids");
    private static final List<String> VERSIONS =
            List.of("0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0");

    private final Path folder;

    CdiDirectory(Path folder) {
        this.folder = folder;
    }

    /** Every file with its bytes, by name. */
    Map<String, String> content() throws IOException {
        Map<String, String> content = new TreeMap<>();
        if (Files.isDirectory(folder)) {
            try (Stream<Path> files = Files.list(folder)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    content.put(file.getFileName().toString(), Files.readString(file));
                }
            }
        }
        return content;
    }

    private List<JsonNode> specs() throws IOException {
        List<JsonNode> specs = new ArrayList<>();
        for (Map.Entry<String, String> file : content().entrySet()) {
            if (file.getKey().endsWith(".json")) {
                specs.add(JSON.readTree(file.getValue()));
            }
        }
        return specs;
    }

    /** The one spec that has a qualified device; it is an error if there is none or several. */
    JsonNode specOf(String id) throws IOException {
        List<JsonNode> found = new ArrayList<>();
        for (JsonNode spec : specs()) {
            for (JsonNode device : spec.path("devices")) {
                if (id.equals(spec.path("kind").asText() + "=" + device.path("name").asText())) {
                    found.add(spec);
                }
            }
        }
        assertThat(found).as("specs with %s", id).hasSize(1);
        return found.get(0);
    }

    /** The edits of one qualified device alone. */
    JsonNode editsOf(String id) throws IOException {
        for (JsonNode device : specOf(id).path("devices")) {
            if (id.endsWith("=" + device.path("name").asText())) {
                return device.path("containerEdits");
            }
        }
        throw new AssertionError(id);
    }

    /** What a container with these devices finds in its environment. */
    List<String> environment(List<PreparedDevice> devices) throws IOException {
        List<String> environment = new ArrayList<>();
        for (PreparedDevice device : devices) {
            for (String id : device.cdiDeviceIds()) {
                specOf(id).at("/containerEdits/env").forEach(e -> environment.add(e.asText()));
                editsOf(id).path("env").forEach(e -> environment.add(e.asText()));
            }
        }
        return environment.stream().distinct().toList();
    }

    List<String> environment(ClaimAnswer answer) throws IOException {
        return environment(answer.devices());
    }

    /** Checks a spec by CDI's rules, as far as the edits of a GPU without nodes go. */
    static void assertValid(JsonNode spec) {
        assertThat(SPEC_FIELDS).containsAll(names(spec));
        assertThat(spec.path("kind").asText()).matches(KIND);
        assertThat(VERSIONS).contains(spec.path("cdiVersion").asText());
        assertThat(VERSIONS.indexOf(spec.path("cdiVersion").asText()))
                .as("version that the spec asks for, and what it uses")
                .isEqualTo(VERSIONS.indexOf(minimumVersion(spec)));
        assertThat(spec.path("devices")).isNotEmpty();
        List<String> devices = new ArrayList<>();
        for (JsonNode device : spec.path("devices")) {
            assertThat(DEVICE_FIELDS).containsAll(names(device));
            devices.add(device.path("name").asText());
            assertThat(device.path("name").asText()).matches(NAME);
            assertThat(device.path("containerEdits")).as("edits").isNotEmpty();
            assertValidEdits(device.path("containerEdits"));
        }
        assertThat(devices).doesNotHaveDuplicates();
        if (spec.has("containerEdits")) {
            assertValidEdits(spec.path("containerEdits"));
        }
    }

    private static void assertValidEdits(JsonNode edits) {
        assertThat(EDIT_FIELDS).containsAll(names(edits));
        edits.path("env").forEach(e -> assertThat(e.asText()).matches("[^=]+=.*"));
        edits.path("deviceNodes").forEach(n -> assertThat(n.path("path").asText()).startsWith("/"));
        for (JsonNode mount : edits.path("mounts")) {
            assertThat(mount.path("hostPath").asText()).startsWith("/");
            assertThat(mount.path("containerPath").asText()).startsWith("/");
        }
    }

    /** What facts of CDI 1.1 say about fields that a driver of environment variables may use. */
    private static String minimumVersion(JsonNode spec) {
        boolean digitFirst = false;
        for (JsonNode device : spec.path("devices")) {
            digitFirst |= !Character.isLetter(device.path("name").asText().charAt(0));
        }
        if (spec.has("annotations") || spec.path("kind").asText().split("/")[1].contains(".")) {
            return "0.6.0";
        }
        return digitFirst ? "0.5.0" : "0.3.0";
    }

    private static List<String> names(JsonNode object) {
        List<String> names = new ArrayList<>();
        object.fieldNames().forEachRemaining(names::add);
        return names;
    }
}
