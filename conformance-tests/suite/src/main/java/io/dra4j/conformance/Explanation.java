// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Gate;
import io.dra4j.conformance.requirements.Level;
import io.dra4j.conformance.requirements.Observability;
import io.dra4j.conformance.requirements.Requirement;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The catalogue's text of one requirement, in words and in the order of reading. */
record Explanation(Catalogue catalogue, Requirement requirement) {

    /** A label and its text, which may have several lines. */
    record Part(String label, String text) {}

    List<Part> parts() {
        return Stream.of(
                        new Part("Rule", requirement.rule()),
                        new Part("Level", level()),
                        new Part("Profile", profile()),
                        new Part("Source", requirement.source().replace("; ", "\n")),
                        new Part("Reading", requirement.reading()),
                        new Part("Applies", applies()),
                        new Part("Needs", needs()),
                        new Part("Test", test()),
                        new Part("Hint", requirement.hint()))
                .filter(part -> !part.text().isEmpty())
                .toList();
    }

    private String level() {
        return requirement.strictMust()
                ? requirement.level() + ", and " + Level.MUST + " in a strict run"
                : requirement.level().toString();
    }

    private String profile() {
        return catalogue.profiles().stream()
                .filter(profile -> profile.name().equals(requirement.profile()))
                .map(profile -> profile.name() + (profile.core() ? ", a core profile" : ""))
                .collect(Collectors.joining());
    }

    private String applies() {
        return Stream.of(
                        conditions("", requirement.gates(), "\nand "),
                        conditions("either ", requirement.anyGates(), "\nor "),
                        version("from Kubernetes ", requirement.since()),
                        version("up to Kubernetes ", requirement.until()))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining("\n"));
    }

    private static String conditions(String before, Set<Gate> gates, String between) {
        return gates.stream()
                .map(gate -> "if " + gate.words() + " (" + gate.label() + ")")
                .collect(Collectors.joining(between, gates.isEmpty() ? "" : before, ""));
    }

    private static String version(String before, String version) {
        return version.isEmpty() ? "" : before + version;
    }

    private String needs() {
        return requirement.needs().stream()
                .map(id -> catalogue.find(id).orElseThrow())
                .map(needed -> needed.id() + " " + needed.rule())
                .collect(Collectors.joining("\n"));
    }

    private String test() {
        if (requirement.observability() == Observability.UNTESTED) {
            return "None: " + requirement.untested() + ".";
        }
        String chance = requirement.observability() == Observability.STOCHASTIC
                ? " It has to hit a moment, so a pass is no proof."
                : "";
        String services = requirement.perService() ? " Once with each DRA service of the driver." : "";
        return requirement.test() + chance + services;
    }
}
