// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.runtime.internal.claim.KubeletClaims;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The kubelet's record of the claims of the node's pods, its file {@code dra_manager_state}.
 *
 * <p>The kubelet writes a claim before it asks the first driver to prepare it, and the devices only
 * when all drivers of the pod have answered. A claim without devices may thus be prepared.
 *
 * @param claims all claims, of all drivers
 * @param damage what is wrong with the file; empty if nothing is
 * @see <a href="https://github.com/kubernetes/kubernetes/tree/v1.36.2/pkg/kubelet/cm/dra/state">The
 *     format: JSON in JSON, with a CRC-32 of the inner text</a>
 */
record KubeletState(List<KubeletClaim> claims, String damage) {

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    KubeletState {
        claims = List.copyOf(claims);
    }

    /**
     * A claim that the kubelet holds for pods.
     *
     * @param pods the UIDs of the pods
     * @param devices those of the driver, as {@code pool/device}; empty until the kubelet has its
     *     answer, and for claims of other drivers
     */
    record KubeletClaim(ClaimRef ref, List<String> pods, List<String> devices) {
        KubeletClaim {
            pods = List.copyOf(pods);
            devices = List.copyOf(devices);
        }
    }

    /**
     * Reads the file.
     *
     * @throws NotCheckedException if it can't be read
     */
    static KubeletState read(Path file, String driver) {
        try {
            return decode(Files.readAllBytes(file), driver);
        } catch (NoSuchFileException e) {
            throw new NotCheckedException(
                    "there is no "
                            + file
                            + "; it is on the node itself, and visible in a pod if the kubelet's"
                            + " directory is mounted",
                    e);
        } catch (IOException e) {
            throw new NotCheckedException("can't read " + file + ": " + e, e);
        }
    }

    /** Decodes the file; other bytes count as damage. */
    static KubeletState decode(byte[] file, String driver) {
        try {
            JsonNode inner = JSON.readTree(KubeletClaims.text(file));
            String version = inner.path("apiVersion").asText();
            if (!version.equals(KubeletClaims.VERSION)) {
                throw new NotCheckedException(
                        "the kubelet's state has the version \"%s\", which this release can't read".formatted(version));
            }
            return new KubeletState(claims(inner.path("ClaimInfoStateList"), driver), "");
        } catch (IllegalArgumentException e) {
            return damaged(firstLine(e));
        } catch (JsonProcessingException e) {
            return damaged("it can't be decoded: " + firstLine(e));
        } catch (IOException e) {
            return damaged("it is not JSON: " + firstLine(e));
        }
    }

    private static KubeletState damaged(String damage) {
        return new KubeletState(List.of(), damage);
    }

    private static String firstLine(Exception e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    private static List<KubeletClaim> claims(JsonNode list, String driver) {
        List<KubeletClaim> claims = new ArrayList<>();
        for (JsonNode one : list) {
            List<String> devices = new ArrayList<>();
            for (JsonNode device : one.path("DriverState").path(driver).path("Devices")) {
                devices.add(device.path("PoolName").asText()
                        + "/"
                        + device.path("DeviceName").asText());
            }
            List<String> pods = new ArrayList<>();
            one.path("PodUIDs").fieldNames().forEachRemaining(pods::add);
            claims.add(new KubeletClaim(ref(one), pods, devices));
        }
        return claims;
    }

    private static ClaimRef ref(JsonNode claim) {
        return new ClaimRef(
                claim.path("Namespace").asText(),
                claim.path("ClaimName").asText(),
                claim.path("ClaimUID").asText());
    }

    /** Returns the claims for which the kubelet has devices of the driver. */
    List<KubeletClaim> prepared() {
        return claims.stream().filter(claim -> !claim.devices().isEmpty()).toList();
    }

    /** Returns the claim with a UID, with or without devices. */
    Optional<KubeletClaim> claim(String uid) {
        return claims.stream().filter(claim -> claim.ref().uid().equals(uid)).findFirst();
    }
}
