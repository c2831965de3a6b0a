// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.health;

import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.metrics.DeviceMeasure;
import io.dra4j.nvidia.nvml.Gpu;
import io.dra4j.nvidia.state.FreshFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of a node's GPUs that survives a restart of the driver, but not a reboot of the node: a failed GPU stays
 * failed when the driver restarts, and a lost GPU can't be identified on its own.
 *
 * <p>Used by one thread. A file that can't be read is ignored: NVML's reports are then used.
 */
public final class HealthStateFile {

    private static final Logger LOG = LoggerFactory.getLogger(HealthStateFile.class);
    private static final int FORM = 2;

    private static final JsonMapper JSON = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.READ_UNKNOWN_ENUM_VALUES_AS_NULL)
            .defaultSetterInfo(JsonSetter.Value.forContentNulls(Nulls.SKIP))
            .build();

    private final Path file;
    private final String boot;
    private State last = State.NONE;

    /**
     * The content of the file.
     *
     * @param form the form of the file; a file of version 1 has none, and marks errors as harmless or not
     * @param errors their errors, by UUID
     * @param exceeded the thresholds that they exceed, by UUID; null in earlier files
     * @param ended the GPU instances of claims that were destroyed by others; null in earlier files
     */
    public record State(
            @Nullable Integer form,
            String boot,
            List<Gpu> gpus,
            Map<String, List<XidError>> errors,
            @Nullable Map<String, Set<DeviceMeasure>> exceeded,
            @Nullable Set<String> ended) {

        static final State NONE = new State(FORM, "", List.of(), Map.of(), Map.of(), Set.of());

        /** Copies the collections; null values become empty. */
        public State {
            form = form == null ? 1 : form;
            gpus = List.copyOf(gpus);
            errors = Map.copyOf(errors);
            exceeded = exceeded == null ? Map.of() : Map.copyOf(exceeded);
            ended = ended == null ? Set.of() : Set.copyOf(ended);
        }
    }

    /**
     * Uses a file.
     *
     * @param file the file, in an existing directory
     * @param proc the mount point of procfs, which has the boot id
     */
    public HealthStateFile(Path file, Path proc) {
        this.file = file;
        this.boot = boot(proc.resolve("sys/kernel/random/boot_id"));
    }

    public Path beside(String name) {
        return file.resolveSibling(name);
    }

    private static String boot(Path id) {
        try {
            return Files.readString(id).strip();
        } catch (IOException e) {
            LOG.atWarn().setCause(e).log("Boot id unknown: device faults are not kept across a restart");
            return "";
        }
    }

    /** Returns the state since the node was booted. */
    public State read() {
        try {
            State found = JSON.readValue(file.toFile(), State.class);
            if (found != null && !boot.isEmpty() && boot.equals(found.boot())) {
                last = found;
            }
            if (last.form() > FORM) {
                LOG.atWarn()
                        .addKeyValue("path", file)
                        .log("Health state file was written by a newer driver; only known fields are used");
            }
        } catch (FileNotFoundException e) {
            LOG.atDebug().addKeyValue("path", file).log("No health state file yet");
        } catch (IOException e) {
            LOG.atWarn().setCause(e).addKeyValue("path", file).log("Health state file can't be read, and is ignored");
        }
        return last;
    }

    public void write(
            List<Gpu> gpus,
            Map<String, List<XidError>> errors,
            Map<String, Set<DeviceMeasure>> exceeded,
            Set<String> ended) {
        State now = new State(FORM, boot, gpus, errors, exceeded, ended);
        if (last != State.NONE && now.equals(last)) { // the start need not pay for the first equals of a record
            return;
        }
        try {
            FreshFile.replace(file, JSON.writeValueAsBytes(now), FreshFile.OF_OWNER);
            last = now;
        } catch (IOException e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("path", file)
                    .log("Health state file can't be written: device faults are not kept across a restart");
        }
    }
}
