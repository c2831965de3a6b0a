// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.error.DraException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The members that a release of NVIDIA's driver has in its checkpoint.
 *
 * <p>A release compares checksums with those of its own output, so it refuses a file with an unknown member, or without
 * a member that it always writes. All builds but one accept the oldest form.
 *
 * @param hasBootId whether it has the boot of the claims
 * @param hasDaemonId whether it has an id of the MPS daemon for groups without one
 * @param hasTimeSlices whether it records that time slices were set
 * @param hasParentAddress whether it has the PCI address of a MIG device's GPU
 */
public record GoForm(boolean hasBootId, boolean hasDaemonId, boolean hasTimeSlices, boolean hasParentAddress) {

    private static final GoForm OLDEST = new GoForm(false, true, false, false);
    private static final GoForm NEWEST = new GoForm(true, true, true, true);

    /** By release; a build of 29 July to 11 August 2026 is called 0.5.0-dev. */
    private static final Map<String, GoForm> RELEASES = new TreeMap<>(Map.of(
            "25.12", OLDEST,
            "0.4.0", new GoForm(true, true, false, true),
            "0.4.1", NEWEST,
            "0.5", NEWEST,
            "0.5.0-dev", new GoForm(true, false, true, true)));

    public static GoForm of(String release) {
        return Optional.ofNullable(RELEASES.get(release))
                .orElseThrow(() -> new DraException("--checkpoint-release=%s is not one of %s"
                        .formatted(release, String.join(", ", RELEASES.keySet()))));
    }

    /** Returns the form of the checkpoint that was taken over; the oldest if none was. */
    public static GoForm ofTakenOver(Path file) {
        try {
            JsonNode v2 = new JsonMapper().readTree(Files.readAllBytes(file)).path("v2");
            JsonNode claims = v2.path("preparedClaims");
            return new GoForm(
                    v2.has("nodeBootID"),
                    claims.findValue("configState") == null || claims.findValue("mpsControlDaemonID") != null,
                    claims.findValue("timeSliceApplied") != null,
                    claims.findValue("parentPCIBusID") != null);
        } catch (NoSuchFileException e) {
            return OLDEST;
        } catch (IOException e) {
            throw new DraException(
                    "Can't read %s, which decides the form of the checkpoint: %s; set --checkpoint-release"
                            .formatted(file, e),
                    e);
        }
    }
}
