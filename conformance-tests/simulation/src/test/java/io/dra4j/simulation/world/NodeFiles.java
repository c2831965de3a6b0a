// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.Journal;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.simulation.disk.Disk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The files of a driver on its node, as others read them, with unmodified code of the runtime. */
final class NodeFiles {

    private static final JsonMapper JSON = new JsonMapper();
    private static final String JOURNAL = "claims.journal";

    private final String driver;
    private final Path data;
    private final Path specs;
    private final Path kubelet;
    private final Path boot;
    private final Map<Path, Read> read = new HashMap<>();

    /**
     * @param paths makes a path on the node's disk, as seen by a process without faults
     */
    NodeFiles(String driver, Function<String, Path> paths) {
        this.driver = driver;
        this.data = paths.apply("/var/lib/kubelet/plugins/" + driver);
        this.specs = paths.apply("/var/run/cdi");
        this.kubelet = paths.apply("/var/lib/kubelet/dra_manager_state");
        this.boot = paths.apply("/proc/sys/kernel/random/boot_id");
    }

    Path kubelet() {
        return kubelet;
    }

    /** Returns the records of the driver's journal. */
    List<ClaimRecord> records() {
        return journal().claims();
    }

    JournalReading journal() {
        return journal(data.resolve(JOURNAL), bytes(data.resolve(JOURNAL)).orElse(new byte[0]));
    }

    /** Returns the content of the journal that survives every power failure. */
    JournalReading durable() {
        try {
            Path file = data.resolve(JOURNAL);
            byte[] left = Disk.durable(file).orElse(new byte[0]);
            if (Arrays.equals(left, bytes(file).orElse(left))) {
                return journal(file, left);
            }
            Path copy = boot.resolveSibling(JOURNAL);
            Files.write(copy, left);
            return journal(copy, left);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private JournalReading journal(Path file, byte[] now) {
        Read last = read.get(file);
        if (last == null || !Arrays.equals(now, last.bytes)) { // it is read more often than it is written
            last = new Read(now, Journal.read(file, "any"));
            read.put(file, last);
        }
        return last.reading;
    }

    private record Read(byte[] bytes, JournalReading reading) {}

    /** Returns whether a record is from the current boot. */
    boolean isOfThisBoot(ClaimRecord record) {
        return read(boot).map(String::strip).filter(record.bootId()::equals).isPresent();
    }

    /** Returns the file of a claim's CDI spec. */
    Path spec(String uid) {
        return specs.resolve("k8s." + driver + "-claim_" + uid + ".json");
    }

    /** Returns a claim's spec as text, if there is one. */
    Optional<String> specText(String uid) {
        return read(spec(uid));
    }

    /** Returns the device metadata for the containers of a claim. */
    String metadata(String uid) {
        Map<String, String> contents = new TreeMap<>();
        addContents(data.resolve("dra-device-metadata").resolve(uid), contents);
        return contents.toString();
    }

    /** Returns the devices of a spec by the ids by which a runtime finds them; throws if it is not JSON. */
    static Map<String, JsonNode> cdiDevices(String spec) throws IOException {
        JsonNode json = JSON.readTree(spec);
        Map<String, JsonNode> devices = new TreeMap<>();
        for (JsonNode device : json.path("devices")) {
            devices.put(json.path("kind").asText() + "=" + device.path("name").asText(), device.path("containerEdits"));
        }
        return devices;
    }

    /**
     * Returns the files that name a claim, except for its record and for its report, which may not have been sent yet.
     */
    List<Path> of(String uid) {
        return Stream.of(specs, data.resolve("dra-device-metadata"))
                .flatMap(directory -> in(directory).stream())
                .filter(file -> file.getFileName().toString().contains(uid) && !isTemporary(file))
                .toList();
    }

    /** Returns the UIDs of the claims whose devices have reported something. */
    Set<String> reported() {
        return Stream.of(data.resolve("reports"), data.resolve("dra-device-metadata"))
                .flatMap(directory -> in(directory).stream())
                .filter(file -> !isTemporary(file))
                .map(file -> file.getFileName().toString().replace(".json", ""))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns whether a crash may leave a file for some time. */
    static boolean isTemporary(Path file) {
        return file.toString().endsWith(".tmp");
    }

    /** Returns the content of the files in a directory, by name. */
    static List<Path> in(Path directory) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns all specs. */
    List<Path> specs() {
        return in(specs);
    }

    /** Returns the contents of all of the driver's files, by path. */
    Map<String, String> contents() {
        Map<String, String> contents = new TreeMap<>();
        for (Path root : List.of(data, specs)) {
            addContents(root, contents);
        }
        return contents;
    }

    private static void addContents(Path directory, Map<String, String> contents) {
        for (Path file : in(directory)) {
            if (Files.isDirectory(file)) {
                addContents(file, contents);
            } else {
                contents.put(file.toString(), read(file).orElse(""));
            }
        }
    }

    private static Optional<String> read(Path file) {
        return bytes(file).map(content -> new String(content, StandardCharsets.UTF_8));
    }

    private static Optional<byte[]> bytes(Path file) {
        try {
            return Optional.of(Files.readAllBytes(file));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
