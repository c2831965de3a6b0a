// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.List;

/**
 * An explanation, as tools read it; the text for people has the same parts.
 *
 * @param subject what is explained, such as {@code pod default/train}
 * @param answer what is in the way, in one sentence
 * @param remedy what to do first, in one sentence; empty if there is nothing to do
 * @param server the version of the API server
 * @param scheduler what the scheduler and others wrote on the pod
 * @param nodes groups of similar nodes, the nearest to a fit first
 * @param changes changes that make it fit, each tried in a simulation, least disruptive first
 * @param how to make these changes, where the API does not allow an object to be edited
 * @param bugs the decisive bugs of the server's release
 */
record ExplainReport(
        String subject,
        Result result,
        String answer,
        String remedy,
        String server,
        List<String> scheduler,
        List<String> notes,
        List<Nodes> nodes,
        List<Changes> changes,
        List<String> how,
        List<String> bugs,
        List<String> unknown) {

    enum Result {
        FITS("fits"),
        PLACED("placed"),
        DOES_NOT_FIT("doesNotFit"),
        NOT_TRIED("notTried");

        private final String text;

        Result(String text) {
            this.text = text;
        }

        @JsonValue
        String text() {
            return text;
        }

        boolean isGood() {
            return this == FITS || this == PLACED;
        }
    }

    /**
     * Similar nodes.
     *
     * @param state whether it fits there, or why not, as a sentence without its full stop
     * @param requests what each request gets there
     * @param pools pools that can't be used there, and why
     */
    record Nodes(int count, List<String> names, String state, List<Request> requests, List<String> pools) {}

    /**
     * A request of a claim on similar nodes.
     *
     * @param wanted the number of devices
     * @param most the largest number that one of the nodes has
     * @param refused the devices that it can't have, by reason, in the order of the checks
     */
    record Request(String claim, String request, long wanted, int most, List<Refused> refused) {}

    /**
     * Devices that a request can't have for one reason.
     *
     * @param details what was found, a line each
     */
    record Refused(String check, String reason, List<String> devices, List<String> details) {}

    /**
     * Changes that make it fit, together.
     *
     * @param node the node where they were tried
     */
    record Changes(String node, List<String> changes) {

        /** All changes as a sentence, without its full stop. */
        String sentence() {
            String text = String.join("; and ", changes);
            return Character.toUpperCase(text.charAt(0)) + text.substring(1);
        }
    }
}
