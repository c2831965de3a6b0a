// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.tools.audit;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.error.DraException;
import io.dra4j.doctor.NotCheckedException;
import io.dra4j.runtime.internal.cdi.CdiSpecs;
import io.dra4j.runtime.internal.checkpoint.ClaimRecord;
import io.dra4j.runtime.internal.checkpoint.JournalReading;
import io.dra4j.runtime.internal.claim.KubeletClaims;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.files.DataDirectory;
import io.dra4j.tools.audit.KubeletState.KubeletClaim;
import io.dra4j.tools.audit.Views.AuditedDriver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The views of a node's claims that are cross-checked.
 *
 * @param claims the claims in the API that have devices of the driver
 * @param other the record of another driver of this name
 */
record Views(
        AuditedDriver driver,
        String bootId,
        View<JournalReading> journal,
        View<SpecFiles> specs,
        View<KubeletState> kubelet,
        View<Map<ClaimRef, ClaimObject>> claims,
        View<Inventory> hardware,
        View<OtherCheckpoint> other) {

    /** Returns all claims of the journal. */
    List<ClaimRecord> recorded() {
        return journal.get().claims();
    }

    /** Returns the claims of the journal that are prepared in this boot. */
    List<ClaimRecord> prepared() {
        return recorded().stream()
                .filter(claim -> claim.phase() == Phase.PREPARED && isOfThisBoot(claim))
                .toList();
    }

    boolean isOfThisBoot(ClaimRecord claim) {
        return claim.bootId().equals(bootId);
    }

    /**
     * Requires the API's claims, even where there is nothing to compare them with.
     *
     * @throws io.dra4j.doctor.NotCheckedException if they could not be read
     */
    void requireClaims() {
        claims.get();
    }

    boolean isRecorded(String uid) {
        return recorded().stream().anyMatch(claim -> claim.ref().uid().equals(uid));
    }

    /** Returns the object of a claim with exactly this UID. */
    Optional<ClaimObject> object(ClaimRef ref) {
        return present(ref.uid()).map(claims.get()::get);
    }

    /** Returns the claim of a UID as the API server names it; a damaged record does not. */
    Optional<ClaimRef> present(String uid) {
        return claims.get().keySet().stream()
                .filter(claim -> claim.uid().equals(uid))
                .findFirst();
    }

    boolean isKubeletIntact() {
        return kubelet.isRead() && kubelet.get().damage().isEmpty();
    }

    /** Returns the kubelet's claim of a UID; none if the kubelet's record can't be read. */
    Optional<KubeletClaim> kubeletClaim(String uid) {
        return kubelet.isRead() ? kubelet.get().claim(uid) : Optional.empty();
    }

    /** Returns the claim that has the name now, with any UID. */
    Optional<ClaimRef> named(ClaimRef ref) {
        return claims.get().keySet().stream()
                .filter(claim -> claim.namespace().equals(ref.namespace())
                        && claim.name().equals(ref.name()))
                .findFirst();
    }

    /**
     * The driver whose node is audited.
     *
     * @param directory the driver's directory below the kubelet's plugins
     */
    record AuditedDriver(String name, String node, Path directory, Path cdiRoot) {

        Path journal() {
            return new DataDirectory(directory).journal();
        }

        /** Returns the checkpoint of a Go driver of this name. */
        Path checkpoint() {
            return new DataDirectory(directory).goCheckpoint();
        }

        /** Returns its CDI specs, read-only. */
        CdiSpecs specs() {
            return CdiSpecs.reading(cdiRoot, name);
        }

        Path kubeletState() {
            return KubeletClaims.file(directory);
        }
    }

    /**
     * The names of devices in the driver's CDI specs, by the UID of the claim.
     *
     * @param devices for each claim the names, such as {@code <uid>-gpu-0}; none if the file is damaged
     */
    record SpecFiles(Map<String, List<String>> devices) {

        /**
         * Reads the specs of a driver.
         *
         * @throws NotCheckedException if the directory does not exist, or can't be read
         */
        static SpecFiles read(AuditedDriver driver) {
            Path root = driver.cdiRoot();
            if (!Files.isDirectory(root)) {
                throw new NotCheckedException("there is no directory " + root + "; give the node's by --cdi-root");
            }
            CdiSpecs specs = driver.specs();
            Map<String, List<String>> devices = new LinkedHashMap<>();
            for (String uid : new TreeSet<>(specs.claimUids())) {
                devices.put(uid, specs.deviceNames(uid));
            }
            return new SpecFiles(devices);
        }
    }

    /**
     * The checkpoint of an earlier Go driver based on the community's example driver: a list of UIDs.
     *
     * @see <a href="https://github.com/kubernetes-sigs/dra-example-driver">The example driver; its file
     *     is {@code {"preparedClaims":[{"uid":"…"}]}}</a>
     */
    record OtherCheckpoint(List<String> uids, String damage) {

        private static final JsonMapper JSON = JsonMapper.builder()
                .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
                .build();

        OtherCheckpoint {
            uids = List.copyOf(uids);
        }

        static View<OtherCheckpoint> read(Path file) {
            try {
                return View.of(
                        Files.exists(file) ? decode(Files.readAllBytes(file)) : new OtherCheckpoint(List.of(), ""));
            } catch (IOException e) {
                return View.unread("can't read " + file + ": " + e);
            }
        }

        /** Decodes a file; a file in another form lists no claims. */
        static OtherCheckpoint decode(byte[] file) {
            try {
                JsonNode claims = JSON.readTree(file).path("preparedClaims");
                List<String> uids = new ArrayList<>();
                if (claims.isArray()) {
                    claims.forEach(claim -> uids.add(claim.path("uid").asText()));
                }
                return new OtherCheckpoint(uids, "");
            } catch (IOException e) {
                return new OtherCheckpoint(List.of(), "it is not JSON");
            }
        }
    }

    /**
     * One view of a node's claims, or the reason why it can't be read.
     *
     * @param <T> the type of the view
     */
    record View<T>(@Nullable T value, String reason) {

        static <T> View<T> of(T value) {
            return new View<>(value, "");
        }

        static <T> View<T> unread(String reason) {
            return new View<>(null, reason);
        }

        /** Reads a view; if reading throws, the exception's message is the reason. */
        static <T> View<T> read(Supplier<T> reading) {
            try {
                return of(reading.get());
            } catch (NotCheckedException | DraException | UnsupportedOperationException e) {
                return unread(String.valueOf(e.getMessage()));
            } catch (RuntimeException | LinkageError e) { // a provider may throw anything
                return unread(e.toString());
            }
        }

        boolean isRead() {
            return value != null;
        }

        /**
         * Returns the view.
         *
         * @throws NotCheckedException if it could not be read
         */
        T get() {
            if (value == null) {
                throw new NotCheckedException(reason);
            }
            return value;
        }

        T orElse(T otherwise) {
            return value == null ? otherwise : value;
        }
    }
}
