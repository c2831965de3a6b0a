// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** An error with which a scheduler gives up on a pod, and what to do about it. */
enum Failure {
    NO_CLASS(
            "claim (\\S+), request (\\S+): could not retrieve device class ([^:]+):.*",
            "request $2 of claim $1 names DeviceClass $3, which does not exist",
            "Create that DeviceClass, or correct deviceClassName in the manifest, and recreate"
                    + " the claim (or template) and the pod"),
    NOT_COMPILED("CEL compile error", "", "Correct the expression; the message says where it breaks"),
    NO_KEY(
            "((?:claim|class) \\S+): selector #(\\d+): CEL runtime error: no such key: (\\S+)",
            "selector #$2 of $1 reads $3, which a device does not have (CEL runtime error: no such key)",
            ""),
    CEL("CEL runtime error", "", "Correct the expression; one device is enough to fail the pod"),
    INCOMPLETE(
            Start.ALL + "is currently being updated|is being updated",
            "request $2 of claim $1 asks for all devices, but pool $3 lacks ResourceSlices",
            "Restart the driver if this lasts longer than a minute: it publishes the slices of a pool"
                    + " within seconds"),
    INVALID(
            Start.ALL + "is currently invalid|is invalid:",
            "request $2 of claim $1 asks for all devices, but pool $3 is invalid",
            "Restart the driver, or roll it back if it was just updated, so that it publishes its devices again; if that does not help, report it to the driver's vendor: what the driver published contradicts itself, and until then no pod gets devices of the pool"),
    TOO_MANY(
            "claim (\\S+): number of requested devices (\\d+) exceeds the claim limit of (\\d+)",
            "claim $1 asks for $2 devices, but a claim gets at most $3",
            "Spread the devices over several claims of at most 32, if a node has that many"),
    CRASH(
            "panic: (runtime error: .*)",
            "kube-scheduler crashes, because the sum of its requests' counts exceeds 64 bits ($1)",
            "Request at most 32 devices: a claim gets no more"),
    ALL_TOGETHER(
            "claim constraint would not be satisfied",
            "",
            "Remove the constraint, or narrow the selectors: a request for all devices takes each"
                    + " one that matches, or fails"),
    TIMEOUT("timed out", "", "Make the selectors more exact: there are too many combinations to try"),
    GATE("feature is disabled", "", "Turn that feature gate on in kube-scheduler and kube-apiserver");

    private static final class Start {
        static final String ALL = "claim (\\S+), request (\\S+): asks for all devices, but resource pool (\\S+) ";
    }

    private final Pattern message;
    private final String text;
    private final String remedy;

    Failure(String message, String text, String remedy) {
        this.message = Pattern.compile(message);
        this.text = text;
        this.remedy = remedy;
    }

    /** The message in plain language, as part of a sentence. */
    static String text(String message) {
        Optional<Failure> found = find(message);
        if (found.isEmpty() || found.get().text.isEmpty()) {
            return message;
        }
        Matcher matcher = found.get().message.matcher(message);
        boolean isWhole = matcher.find() && matcher.group(1) != null;
        return isWhole ? matcher.replaceFirst(found.get().text) : message;
    }

    /** The attribute or capacity that an expression reads and a device lacks. */
    static Optional<String> missingKey(String message) {
        Matcher matcher = NO_KEY.message.matcher(message);
        return matcher.find() ? Optional.of(matcher.group(3)) : Optional.empty();
    }

    /** The pool that a message is about, with its driver's name before it. */
    static Optional<String> pool(String message) {
        Matcher matcher = Pattern.compile("resource pool (\\S+) ").matcher(message);
        return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
    }

    /** Returns what to do about a message, or about the problem of a pool. */
    static Optional<String> remedy(String message) {
        return find(message).map(one -> one.remedy);
    }

    /** The kind of a message; null if it is unknown. */
    static @Nullable Failure of(String message) {
        return find(message).orElse(null);
    }

    private static Optional<Failure> find(String message) {
        return Arrays.stream(values())
                .filter(one -> one.message.matcher(message).find())
                .findFirst();
    }
}
