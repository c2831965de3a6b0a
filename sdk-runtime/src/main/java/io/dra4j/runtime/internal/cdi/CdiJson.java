// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cdi;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.IntelRdt;
import io.dra4j.api.container.Mount;
import io.dra4j.api.container.NetDevice;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes CDI specs as JSON, with the field names of the CDI specification, in a stable order. */
final class CdiJson {

    private static final ObjectMapper JSON = JsonMapper.builder()
            .defaultPropertyInclusion(
                    JsonInclude.Value.construct(JsonInclude.Include.NON_EMPTY, JsonInclude.Include.NON_EMPTY))
            .addMixIn(IntelRdt.class, RdtJson.class)
            .build();

    private CdiJson() {}

    static byte[] write(CdiSpec spec) {
        try {
            return JSON.writerWithDefaultPrettyPrinter()
                    .writeValueAsBytes(new SpecJson(
                            CdiVersion.minimumOf(spec).toString(),
                            spec.kind(),
                            spec.devices().stream()
                                    .map(d -> new DeviceJson(d.name(), edits(d.edits())))
                                    .toList(),
                            spec.edits().isEmpty() ? null : edits(spec.edits())));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("A checked spec can always be written", e);
        }
    }

    /** Reads the names of a spec's devices, of any spec that has the form of one. */
    static List<String> deviceNames(byte[] spec) throws IOException {
        List<String> names = new ArrayList<>();
        for (JsonNode device : JSON.readTree(spec).path("devices")) {
            names.add(device.path("name").asText());
        }
        return names;
    }

    private static EditsJson edits(ContainerEdits edits) {
        return new EditsJson(
                edits.env().entrySet().stream()
                        .map(e -> e.getKey() + "=" + e.getValue())
                        .toList(),
                edits.deviceNodes().stream().map(CdiJson::node).toList(),
                edits.netDevices(),
                edits.hooks().stream().map(CdiJson::hook).toList(),
                edits.mounts(),
                edits.intelRdt(),
                edits.additionalGids());
    }

    private static NodeJson node(DeviceNode node) {
        return new NodeJson(
                node.path(),
                node.hostPath(),
                node.type(),
                node.major(),
                node.minor(),
                node.fileMode(),
                node.permissions(),
                node.uid(),
                node.gid());
    }

    private static HookJson hook(Hook hook) {
        Duration timeout = hook.timeout();
        return new HookJson(
                hook.name().cdiName(),
                hook.path(),
                hook.args(),
                hook.env(),
                timeout == null ? null : timeout.toSeconds());
    }

    private record SpecJson(
            String cdiVersion,
            String kind,
            List<DeviceJson> devices,
            @Nullable EditsJson containerEdits) {}

    private record DeviceJson(String name, EditsJson containerEdits) {}

    private record EditsJson(
            List<String> env,
            List<NodeJson> deviceNodes,
            List<NetDevice> netDevices,
            List<HookJson> hooks,
            List<Mount> mounts,
            @Nullable IntelRdt intelRdt,
            List<Long> additionalGids) {}

    private record NodeJson(
            String path,
            @Nullable String hostPath,
            @Nullable String type,
            @Nullable Long major,
            @Nullable Long minor,
            @Nullable Integer fileMode,
            @Nullable String permissions,
            @Nullable Long uid,
            @Nullable Long gid) {}

    private record HookJson(
            String hookName,
            String path,
            List<String> args,
            List<String> env,
            @Nullable Long timeout) {}

    /** The names of {@link IntelRdt} in CDI, where they differ. */
    private abstract static class RdtJson {
        @JsonProperty("closID")
        abstract String closId();

        @JsonInclude(JsonInclude.Include.NON_DEFAULT)
        abstract boolean enableMonitoring();
    }

    /**
     * The versions of CDI, by the fields that they brought.
     *
     * <p>A spec declares the lowest version that knows its fields, since runtimes refuse versions newer than they know.
     */
    enum CdiVersion {
        V0_3_0("0.3.0"),
        V0_4_0("0.4.0"),
        V0_5_0("0.5.0"),
        V0_6_0("0.6.0"),
        V0_7_0("0.7.0"),
        V1_1_0("1.1.0");

        private final String text;

        CdiVersion(String text) {
            this.text = text;
        }

        /** Returns the lowest version that knows all that a spec uses. */
        static CdiVersion minimumOf(CdiSpec spec) {
            Stream<CdiVersion> ofDevices =
                    spec.devices().stream().flatMap(device -> Stream.of(ofName(device.name()), of(device.edits())));
            Stream<CdiVersion> ofSpec = Stream.of(
                    of(spec.edits()),
                    spec.kind().substring(spec.kind().indexOf('/')).contains(".") ? V0_6_0 : V0_3_0);
            return Stream.concat(ofDevices, ofSpec).max(Enum::compareTo).orElse(V0_3_0);
        }

        private static CdiVersion ofName(String device) {
            return Character.isLetter(device.charAt(0)) ? V0_3_0 : V0_5_0;
        }

        private static CdiVersion of(ContainerEdits edits) {
            IntelRdt rdt = edits.intelRdt();
            if (!edits.netDevices().isEmpty() || rdt != null && (!rdt.schemata().isEmpty() || rdt.enableMonitoring())) {
                return V1_1_0;
            }
            if (rdt != null || !edits.additionalGids().isEmpty()) {
                return V0_7_0;
            }
            if (edits.deviceNodes().stream().anyMatch(node -> node.hostPath() != null)) {
                return V0_5_0;
            }
            return edits.mounts().stream().anyMatch(mount -> mount.type() != null) ? V0_4_0 : V0_3_0;
        }

        @Override
        public String toString() {
            return text;
        }
    }
}
