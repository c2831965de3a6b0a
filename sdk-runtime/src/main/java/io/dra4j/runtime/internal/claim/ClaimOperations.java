// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim;

import io.dra4j.api.claim.ClaimRef;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The kubelet's calls, free of wire versions: the seam between the gRPC services and claim preparation.
 *
 * <p>Both calls are thread-safe, answer each claim of the request exactly once, and report the failure of a claim in
 * its own outcome.
 */
public interface ClaimOperations {

    /**
     * Prepares the claims.
     *
     * @param deadline when the kubelet stops waiting; the answer comes about a second earlier, but work that has begun
     *     continues
     * @param hasLeft whether the kubelet has stopped waiting, for instance because the pod has ended: a claim that no
     *     caller waits for is not begun; called on any thread, even after the answer
     */
    Map<ClaimRef, PrepareOutcome> prepare(List<ClaimRef> claims, Instant deadline, BooleanSupplier hasLeft);

    /**
     * Unprepares the claims; an unknown claim counts as unprepared.
     *
     * @param uids the UIDs of the claims; their names do not matter
     * @param deadline as for {@link #prepare}
     */
    Map<String, UnprepareOutcome> unprepare(List<String> uids, Instant deadline);

    public sealed interface PrepareOutcome {

        /** The claim is prepared; the devices are the kubelet's answer. */
        record Prepared(List<DeviceResult> devices) implements PrepareOutcome {
            public Prepared {
                devices = List.copyOf(devices);
            }
        }

        /**
         * The claim is not prepared; the kubelet shows the message to the pod's owner.
         *
         * <p>{@link OwnerText} has made it suitable for that.
         */
        record Failed(String message) implements PrepareOutcome {
            public Failed(@Nullable String message) {
                this.message = OwnerText.of(message);
            }
        }

        /** One prepared device in the kubelet's response; requests are base names, without the subrequest. */
        record DeviceResult(
                List<String> requests,
                String pool,
                String device,
                List<String> cdiDeviceIds,
                @Nullable String shareId) {
            public DeviceResult {
                requests = List.copyOf(requests);
                cdiDeviceIds = List.copyOf(cdiDeviceIds);
            }
        }
    }

    public sealed interface UnprepareOutcome {

        /** Nothing of the claim is left. */
        record Unprepared() implements UnprepareOutcome {}

        /**
         * Something may be left; the kubelet tries again. {@link OwnerText} has made the message suitable.
         */
        record Failed(String message) implements UnprepareOutcome {
            public Failed(@Nullable String message) {
                this.message = OwnerText.of(message);
            }
        }
    }

    /**
     * Makes a message suitable for the owner of a pod, to whom the kubelet shows it.
     *
     * <p>It is never empty, because an empty error means success on the wire; it is valid UTF-8 without control
     * characters, and at most 4 KiB of it: the kubelet puts it into an Event at each attempt.
     */
    final class OwnerText {

        static final String NO_REASON = "the driver gave no reason; its log may have more";

        private static final int MOST_BYTES = 4096;
        private static final String CUT = " … (the driver's log has the full message)";
        private static final int REPLACEMENT = 0xFFFD;

        private OwnerText() {}

        static String of(@Nullable String message) {
            if (message == null || message.isBlank()) {
                return NO_REASON;
            }
            String text = printable(message);
            return bytes(text) <= MOST_BYTES ? text : cut(text, MOST_BYTES - bytes(CUT)) + CUT;
        }

        private static String printable(String message) {
            StringBuilder text = new StringBuilder(message.length());
            message.codePoints()
                    .map(c -> Character.getType(c) == Character.SURROGATE ? REPLACEMENT : c)
                    .map(c -> Character.isISOControl(c) ? ' ' : c)
                    .forEach(text::appendCodePoint);
            return text.toString();
        }

        /** Returns as many whole characters of a text as fit. */
        public static String cut(String text, int mostBytes) {
            ByteBuffer cut = ByteBuffer.allocate(mostBytes);
            StandardCharsets.UTF_8
                    .newEncoder()
                    .onMalformedInput(CodingErrorAction.REPLACE)
                    .encode(CharBuffer.wrap(text), cut, true);
            return StandardCharsets.UTF_8.decode(cut.flip()).toString();
        }

        private static int bytes(String text) {
            return text.getBytes(StandardCharsets.UTF_8).length;
        }
    }
}
