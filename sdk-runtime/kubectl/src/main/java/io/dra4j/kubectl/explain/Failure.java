// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;

/** An error with which a scheduler gives up on a pod, and what to do about it. */
enum Failure {
    NO_CLASS(
            "claim (\\S+), request (\\S+): could not retrieve device class ([^:]+):.*",
            "request $2 of claim $1 names DeviceClass $3, which does not exist",
            "Create that DeviceClass, or correct deviceClassName: `kubectl get deviceclasses` lists"
                    + " those there are"),
    NOT_COMPILED(
            "CEL compile error", "", "Correct the expression; the message says where it breaks"),
    NO_KEY(
            "((?:claim|class) \\S+): selector #(\\d+): CEL runtime error: no such key: (\\S+)",
            "selector #$2 of $1 reads $3, which a device does not have (CEL runtime error: no such key)",
            "Have the selector ask first whether the device has it, as in: \"cores\" in"
                    + " device.attributes[\"gpu.example.com\"] && ... One device without it fails the"
                    + " pod on all nodes"),
    CEL("CEL runtime error", "", "Correct the expression; one device is enough to fail the pod"),
    INCOMPLETE(
            "is (currently )?being updated",
            "",
            "Wait until the pool's driver has published all its slices; if it does not, restart"
                    + " the driver"),
    INVALID(
            "is currently invalid|is invalid:",
            "",
            "Report it to the maker of the driver: what it published contradicts itself"),
    TOO_MANY(
            "exceeds the claim limit",
            "",
            "Spread the devices over several claims: one claim gets 32 at the most"),
    ALL_TOGETHER(
            "claim constraint would not be satisfied",
            "",
            "Remove the constraint, or narrow the selectors: a request for all devices takes each"
                    + " one that matches, or fails"),
    TIMEOUT(
            "timed out",
            "",
            "Make the selectors more exact: there are too many combinations to try"),
    GATE(
            "feature is disabled",
            "",
            "Turn that feature gate on in kube-scheduler and kube-apiserver");

    private final Pattern message;
    private final String text;
    private final String remedy;

    Failure(String message, String text, String remedy) {
        this.message = Pattern.compile(message);
        this.text = text;
        this.remedy = remedy;
    }

    /** The message in plain words, as a part of a sentence. */
    static String text(String message) {
        return find(message)
                .filter(one -> !one.text.isEmpty())
                .map(one -> one.message.matcher(message).replaceFirst(one.text))
                .orElse(message);
    }

    /** What to do about a message, or about the problem of a pool. */
    static Optional<String> remedy(String message) {
        return find(message).map(one -> one.remedy);
    }

    private static Optional<Failure> find(String message) {
        return Arrays.stream(values())
                .filter(one -> one.message.matcher(message).find())
                .findFirst();
    }
}
