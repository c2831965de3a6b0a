// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.nvidia.health.DeviceFaults.Error;
import io.dra4j.nvidia.nvml.Gpu;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is remembered of a node's GPUs over a restart of the driver, and forgotten with a reboot of
 * the node: a GPU that failed does not work again because the driver was started anew, and one that
 * is lost can't say who it is.
 *
 * <p>Used by one thread. A file that can't be read is none: the GPUs are then as NVML says.
 */
public final class HealthStateFile {

    private static final Logger LOG = LoggerFactory.getLogger(HealthStateFile.class);
    private static final String OWNER_ONLY = "rw-------";

    private static final JsonMapper JSON =
            JsonMapper.builder().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES).build();

    private final Path file;
    private final String boot;
    private Remembered last = Remembered.NOTHING;

    /**
     * What is remembered.
     *
     * @param boot the boot of the node that it is true of
     * @param gpus the GPUs as they were last read
     * @param errors what ailed them, by their UUIDs
     */
    public record Remembered(String boot, List<Gpu> gpus, Map<String, List<Error>> errors) {

        static final Remembered NOTHING = new Remembered("", List.of(), Map.of());

        /** Copies what it is given, in which nothing is null. */
        public Remembered {
            gpus = List.copyOf(gpus);
            errors = Map.copyOf(errors);
            errors.values().forEach(List::copyOf);
        }
    }

    /**
     * Remembers in a file.
     *
     * @param file the file, in a directory that is there
     * @param proc where procfs is mounted, which tells one boot from another
     */
    public HealthStateFile(Path file, Path proc) {
        this.file = file;
        this.boot = boot(proc.resolve("sys/kernel/random/boot_id"));
    }

    private static String boot(Path id) {
        try {
            return Files.readString(id).strip();
        } catch (IOException e) {
            LOG.atWarn().setCause(e).log("The boot is unknown: of GPUs nothing is remembered");
            return "";
        }
    }

    /** What was remembered since the node was booted. */
    public Remembered recall() {
        try {
            Remembered found = JSON.readValue(file.toFile(), Remembered.class);
            if (found != null && !boot.isEmpty() && boot.equals(found.boot())) {
                last = found;
            }
        } catch (FileNotFoundException e) {
            LOG.atDebug().addKeyValue("file", file).log("Nothing is remembered of the GPUs yet");
        } catch (IOException e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("file", file)
                    .log("What was remembered of the GPUs can't be read, and is forgotten");
        }
        return last;
    }

    /** Remembers what is known now, if it is something else than before. */
    public void remember(List<Gpu> gpus, Map<String, List<Error>> errors) {
        Remembered now = new Remembered(boot, gpus, errors);
        if (now.equals(last)) {
            return;
        }
        try {
            Path fresh = file.resolveSibling(file.getFileName() + ".new");
            Files.deleteIfExists(fresh);
            Files.createFile(
                    fresh,
                    PosixFilePermissions.asFileAttribute(
                            PosixFilePermissions.fromString(OWNER_ONLY)));
            Files.write(fresh, JSON.writeValueAsBytes(now));
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
            last = now;
        } catch (IOException e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("file", file)
                    .log("What is known of the GPUs can't be kept over a restart of the driver");
        }
    }
}
