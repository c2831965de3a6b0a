// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cdi;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.IntelRdt;
import io.dra4j.api.container.Mount;
import io.dra4j.api.container.NetDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.runtime.internal.files.HalfWritten;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The driver's transient CDI specs: one file for each claim, and no other file.
 *
 * <p>A file appears atomically, by a rename, and without a sync: after a reboot it is useless anyway.
 * Its name and its devices' names are made from the claim's UID, so that no name is ever used again
 * with other content (runtimes cache specs by name). Thread-safe for different claims.
 */
public final class CdiSpecs {

    private static final String CLASS = "claim";
    private static final String ENDING = ".json";
    private static final String OTHER_ENDING = ".yaml";
    private static final String TEMPORARY = ".tmp";

    private static final Logger LOG = LoggerFactory.getLogger(CdiSpecs.class);

    /** The variable that a device without edits sets, since empty edits are invalid. */
    private static final String MARKER = "DRA4J_DEVICE_";

    private static final Set<StandardOpenOption> NEW =
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE);
    private static final FileAttribute<?> OWNER_ONLY = DataDirectory.mode("rw-------");

    private final Path root;
    private final String vendor;

    /** Distinguishes processes: two may write a claim's file, but within a process only the claim's thread does. */
    private final String temporary =
            "." + Long.toUnsignedString(ThreadLocalRandom.current().nextLong()) + TEMPORARY;

    /**
     * Manages the specs of a driver, and removes files that a crash left half-written.
     *
     * @param root the CDI directory; it is created with the first spec
     * @throws DraException if the driver's name can't be part of a CDI vendor
     */
    public CdiSpecs(Path root, String driverName) {
        this("k8s." + driverName, root);
        if (Files.isDirectory(root)) {
            HalfWritten.remove(root, prefix() + "*" + TEMPORARY); // which runtimes ignore
        }
    }

    private CdiSpecs(String vendor, Path root) {
        this.root = root;
        this.vendor = vendor;
        CdiRules.requireKindPart("vendor", vendor);
    }

    /** Returns the specs of a driver that may be running, read-only. */
    public static CdiSpecs reading(Path root, String driverName) {
        return new CdiSpecs("k8s." + driverName, root);
    }

    /**
     * Checks the id of a CDI device that the driver does not describe itself: a runtime refuses a
     * container for an id that it can't read.
     *
     * @throws DraException if it is not an id
     */
    public static void requireDeviceId(String id) {
        if (!CdiRules.isDeviceId(id)) {
            throw new DraException(
                    "The provider returned \"" + id + "\" as the id of a CDI device; it must be vendor/class=name");
        }
    }

    /** The edits of containers that use one device of a claim. */
    public record DeviceEdits(
            PoolName pool, DeviceName device, @Nullable String shareId, ContainerEdits edits) {}

    /** Returns the qualified names of a claim's devices, in the order given. */
    public List<String> ids(String claimUid, List<DeviceEdits> devices) {
        return names(claimUid, devices).stream()
                .map(name -> kind() + "=" + name)
                .toList();
    }

    /**
     * Writes a claim's spec unless an identical one exists.
     *
     * @param claimEdits edits, applied once, of containers that use any device of the claim
     * @param devices none removes the spec: a spec without devices is invalid
     * @throws DraException if the edits break a rule of CDI, or the file can't be written
     */
    public void write(String claimUid, ContainerEdits claimEdits, List<DeviceEdits> devices) {
        if (devices.isEmpty()) {
            remove(claimUid);
            return;
        }
        List<String> names = names(claimUid, devices);
        List<CdiSpec.Device> described = new ArrayList<>();
        for (int i = 0; i < devices.size(); i++) {
            described.add(new CdiSpec.Device(names.get(i), edits(devices.get(i))));
        }
        CdiSpec spec = new CdiSpec(kind(), claimEdits, described);
        CdiRules.check(spec);
        replace(file(claimUid), CdiJson.write(spec));
        deleteIfExists(otherForm(claimUid)); // two specs that define the same devices would hide them
    }

    /**
     * Removes a claim's spec, including one left by a Go driver of this name; none exists on return.
     *
     * @throws DraException if it can't be removed
     */
    public void remove(String claimUid) {
        deleteIfExists(file(claimUid));
        deleteIfExists(otherForm(claimUid));
    }

    /**
     * Renames a claim's spec to the file that Go drivers remove: JSON is also YAML.
     *
     * @throws DraException if it can't be renamed
     */
    public void handOver(String claimUid) {
        try {
            if (Files.exists(file(claimUid))) {
                Files.move(file(claimUid), otherForm(claimUid), StandardCopyOption.ATOMIC_MOVE);
            }
        } catch (IOException e) {
            throw new DraException("Can't rename the CDI spec " + file(claimUid) + ": " + e, e);
        }
    }

    private static void deleteIfExists(Path file) {
        if (Files.notExists(file, LinkOption.NOFOLLOW_LINKS)) {
            return; // a read-only file system would refuse before it looks
        }
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new DraException("Can't remove the CDI spec " + file + ": " + e, e);
        }
    }

    /**
     * Returns the UIDs of the claims that have a spec of this driver.
     *
     * @throws DraException if the directory can't be read
     */
    public Set<String> claimUids() {
        Set<String> uids = new HashSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(root)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                if (name.startsWith(prefix())
                        && name.endsWith(ENDING)
                        && !Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    uids.add(name.substring(prefix().length(), name.length() - ENDING.length()));
                }
            }
        } catch (NoSuchFileException e) {
            return Set.of();
        } catch (IOException | DirectoryIteratorException e) {
            throw new DraException("Can't list the CDI directory " + root + ": " + e, e);
        }
        uids.removeIf(uid -> !ClaimRef.isUid(uid));
        return uids;
    }

    /**
     * Returns the names of the devices in a claim's spec, as far as it can be read.
     *
     * @return for instance {@code <uid>-gpu-0}; empty if there is no readable spec
     */
    public List<String> deviceNames(String claimUid) {
        try {
            return CdiJson.deviceNames(Files.readAllBytes(file(claimUid)));
        } catch (IOException e) {
            return List.of();
        }
    }

    private void replace(Path file, byte[] content) {
        try {
            if (Files.exists(file) && Arrays.equals(Files.readAllBytes(file), content)) {
                return;
            }
            createRoot();
            Path next = root.resolve(file.getFileName() + temporary);
            try {
                write(next, content);
                Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(next);
            }
        } catch (IOException e) {
            throw new DraException("Can't write the CDI spec " + file + ": " + e, e);
        }
    }

    private static void write(Path file, byte[] content) throws IOException {
        try (OutputStream out = Channels.newOutputStream(Files.newByteChannel(file, NEW, OWNER_ONLY))) {
            out.write(content);
        }
    }

    /** Creates the directory readable by others, as runtimes do: CDI tools list it. */
    private void createRoot() throws IOException {
        if (!Files.isDirectory(root)) {
            Files.createDirectories(root, DataDirectory.mode("rwxr-xr-x"));
        }
    }

    /** A device with the name of another one of the claim is distinguished by its index. */
    private static List<String> names(String claimUid, List<DeviceEdits> devices) {
        List<String> names = new ArrayList<>();
        for (DeviceEdits device : devices) {
            String share = device.shareId() == null ? "" : "-" + device.shareId();
            String name = claimUid + "-" + device.device() + share;
            names.add(names.contains(name) ? name + "." + names.size() : name);
        }
        return names;
    }

    private static ContainerEdits edits(DeviceEdits device) {
        if (!device.edits().isEmpty()) {
            return device.edits();
        }
        String name = device.device().value().toUpperCase(Locale.ROOT).replace('-', '_');
        return ContainerEdits.builder()
                .env(MARKER + name, device.device().value())
                .build();
    }

    /** Returns the file of a claim, whether or not it exists. */
    public Path file(String claimUid) {
        if (!ClaimRef.isUid(claimUid)) {
            throw new DraException("Not a claim UID: \"" + claimUid + "\"");
        }
        return root.resolve(prefix() + claimUid + ENDING);
    }

    /** The YAML file of a Go driver, which this driver may have replaced. */
    private Path otherForm(String claimUid) {
        return file(claimUid).resolveSibling(prefix() + claimUid + OTHER_ENDING);
    }

    private String prefix() {
        return vendor + "-" + CLASS + "_";
    }

    private String kind() {
        return vendor + "/" + CLASS;
    }

    /** Writes CDI specs as JSON, with the field names of the CDI specification, in a stable order. */
    static final class CdiJson {

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

        /** Reads the names of a spec's devices, for any well-formed spec. */
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
         * The versions of CDI, by the fields that they introduced.
         *
         * <p>A spec declares the lowest version that has its fields, since runtimes refuse versions newer than they
         * know.
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

            /** Returns the lowest version that has all fields that a spec uses. */
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
                if (!edits.netDevices().isEmpty()
                        || rdt != null && (!rdt.schemata().isEmpty() || rdt.enableMonitoring())) {
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
}
