// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.takeover;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.takeover.GoClaim.GoDevice;
import io.dra4j.nvidia.takeover.GoClaim.GoDevice.Kind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The checkpoint of NVIDIA's driver, in the newest form that the file has.
 *
 * <p>A release writes versions 1 and 2, and a release that knows only version 2 reads that. The checksum covers the
 * written bytes, so that files of releases with other fields can also be read.
 *
 * @param bootId the boot in which the claims were prepared; empty if the release did not record it
 * @see <a
 *     href="https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/blob/main/cmd/gpu-kubelet-plugin/checkpointv.go">
 *     The versions</a>
 */
public record GoCheckpoint(String bootId, List<GoClaim> claims) {

    public static final String FILE = "checkpoint.json";

    /** The members of a file of version 1; unknown versions also have others. */
    private static final Set<String> FIRST = Set.of("checksum", "v1");

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    public GoCheckpoint {
        claims = List.copyOf(claims);
    }

    /**
     * Reads a checkpoint.
     *
     * @return empty if there is no file
     * @throws DraException if it can't be read, is damaged, or of an unknown form
     */
    public static Optional<GoCheckpoint> read(Path file) {
        try {
            return Optional.of(decode(Files.readAllBytes(file)));
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new DraException("Can't read %s: %s".formatted(file, e), e);
        } catch (DraException e) {
            throw new DraException(
                    "The checkpoint of NVIDIA's driver, %s, can't be used: %s".formatted(file, e.getMessage()), e);
        }
    }

    /**
     * Returns whether it does not name the boot of claims that may hold resources of the node.
     *
     * <p>{@link EarlierBoot} finds out more.
     */
    public boolean hasNoBoot() {
        return bootId.isEmpty() && !left(bootId).isEmpty();
    }

    /** Returns whether its claims, and their setup, ended with an earlier boot. */
    public boolean isOfEarlierBoot(String boot) {
        return !bootId.isEmpty() && !bootId.equals(boot);
    }

    /**
     * Returns the claims that may hold resources of the node.
     *
     * <p>These are the claims of this boot, except those that were begun but have changed nothing.
     */
    public List<GoClaim> left(String boot) {
        return isOfEarlierBoot(boot)
                ? List.of()
                : claims.stream()
                        .filter(claim -> claim.isPrepared() || claim.mayHaveChangedHardware())
                        .toList();
    }

    static GoCheckpoint decode(byte[] file) {
        JsonNode root = tree(file);
        if (root.path("v2").isObject()) {
            String v2 = member(file, "v2");
            requireSum(root.at("/v2/checksum"), v2.replaceFirst("^\\{\"checksum\":[0-9]+", "{\"checksum\":0"));
            return new GoCheckpoint(root.at("/v2/nodeBootID").asText(""), claims(root.at("/v2/preparedClaims")));
        }
        if (root.path("v1").isObject() && FIRST.containsAll(names(root))) {
            requireSum(root.path("checksum"), "{\"checksum\":0,\"v1\":" + member(file, "v1") + "}");
            return new GoCheckpoint("", claims(root.at("/v1/preparedClaims")));
        }
        throw new DraException("it has neither version 1 nor 2: another program, or a later release, wrote it");
    }

    private static List<String> names(JsonNode object) {
        return object.properties().stream().map(Map.Entry::getKey).toList();
    }

    private static JsonNode tree(byte[] file) {
        try {
            return JSON.readTree(file);
        } catch (IOException e) {
            throw new DraException("it is not JSON; it is damaged", e);
        }
    }

    /** Returns the text of a member of the file, as it was written. */
    private static String member(byte[] file, String name) {
        try (JsonParser parser = JSON.createParser(file)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                boolean isWanted = parser.currentName().equals(name);
                parser.nextToken();
                int start = (int) parser.currentTokenLocation().getByteOffset();
                parser.skipChildren();
                if (isWanted) {
                    int end = (int) parser.currentLocation().getByteOffset();
                    return new String(Arrays.copyOfRange(file, start, end), StandardCharsets.UTF_8);
                }
            }
            throw new DraException("it has no " + name);
        } catch (IOException e) {
            throw new DraException("it is not JSON; it is damaged", e);
        }
    }

    private static void requireSum(JsonNode expected, String text) {
        if (!expected.isIntegralNumber()
                || expected.longValue() != GoChecksum.of(text.getBytes(StandardCharsets.UTF_8))) {
            throw new DraException("its checksum is not that of its content; it is damaged");
        }
    }

    private static List<GoClaim> claims(JsonNode claims) {
        List<GoClaim> all = new ArrayList<>();
        for (Map.Entry<String, JsonNode> one : claims.properties()) {
            if (!ClaimRef.isUid(one.getKey())) {
                throw new DraException("it has a claim whose name is not a UID: " + one.getKey());
            }
            all.add(claim(one.getKey(), one.getValue()));
        }
        return all;
    }

    /** A claim of version 1 has no state, and is always prepared. */
    private static GoClaim claim(String uid, JsonNode claim) {
        List<String> allocated = new ArrayList<>();
        claim.at("/status/allocation/devices/results")
                .forEach(result -> allocated.add(result.path("device").asText()));
        List<GoDevice> devices = new ArrayList<>();
        List<String> daemons = new ArrayList<>();
        for (JsonNode group : claim.path("preparedDevices")) {
            group.path("devices").forEach(device -> devices.add(device(device)));
            String daemon = group.at("/configState/mpsControlDaemonID").asText("");
            if (!daemon.isEmpty()) {
                daemons.add(daemon);
            }
        }
        String state = claim.path("checkpointState").asText("PrepareCompleted");
        return new GoClaim(
                uid,
                state.equals("PrepareCompleted"),
                allocated,
                devices,
                daemons,
                !claim.at("/status/allocation/devices/config").isEmpty());
    }

    private static GoDevice device(JsonNode device) {
        if (device.path("gpu").isObject()) {
            return device(Kind.GPU, device.path("gpu"), device.at("/gpu/info/uuid"));
        }
        if (device.path("mig").isObject()) {
            JsonNode uuid = device.at("/mig/concrete/migUUID");
            return device(Kind.MIG, device.path("mig"), uuid.isMissingNode() ? device.at("/mig/info/uuid") : uuid);
        }
        return device.path("vfio").isObject()
                ? device(Kind.VFIO, device.path("vfio"), device.at("/vfio/info/uuid"))
                : device(Kind.UNKNOWN, device, device);
    }

    private static GoDevice device(Kind kind, JsonNode device, JsonNode uuid) {
        JsonNode answered = device.path("device");
        List<String> ids = new ArrayList<>();
        answered.path("CDIDeviceIDs").forEach(id -> ids.add(id.asText()));
        return new GoDevice(
                kind, answered.path("DeviceName").asText(), uuid.asText(), answered.hasNonNull("ShareID"), ids);
    }
}
