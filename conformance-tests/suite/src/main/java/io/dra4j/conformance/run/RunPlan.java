// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.testkit.settings.SettingsException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The requirements that a run checks, in order: first those that others need, before anything is done that could harm
 * the driver, then the rest. Within that, the seed decides: no verdict may depend on what came before.
 */
record RunPlan(Catalogue catalogue, Settings settings, int release) {

    /** Requirements that violations of other rules can be about, see {@link io.dra4j.conformance.context.Violation#roots}. */
    private static final List<String> ROOTS = List.of(
            "DRA-PREP-01",
            "DRA-SLICE-19",
            "DRA-CDI-02",
            "DRA-PREP-05",
            "DRA-UNP-01",
            "DRA-CDI-06",
            "DRA-REG-07",
            "DRA-SHUT-01");

    /**
     * The requirements of a run: first those that explain failures of others, and each after those that it needs.
     *
     * @param release the API server's release: the number after "1."
     */
    static List<Requirement> of(Catalogue catalogue, Settings settings, int release) {
        return new RunPlan(catalogue, settings, release).ordered();
    }

    /**
     * The requirements of a run of a driver that publishes nothing: with the one that it fails, if a planned
     * requirement has no answer for that reason.
     */
    static List<Requirement> with(
            Catalogue catalogue, Settings settings, List<Requirement> plan, Capabilities capabilities) {
        boolean blocks = plan.stream()
                .map(capabilities::missing)
                .flatMap(Optional::stream)
                .anyMatch(closed -> closed.verdict() == Verdict.BLOCKED);
        RunPlan added = new RunPlan(catalogue, settings, 0);
        Set<Requirement> ordered = new LinkedHashSet<>();
        catalogue.requirements().stream()
                .filter(one -> blocks && capabilities.isFailedBy(one))
                .forEach(failed -> {
                    added.addNeeds(failed, ordered);
                    ordered.add(failed);
                });
        ordered.addAll(plan);
        return new ArrayList<>(ordered);
    }

    /** Throws SettingsException if the settings name something that is not in the catalogue. */
    static void check(Catalogue catalogue, Settings settings) {
        Set<String> profiles = catalogue.profiles().stream().map(p -> p.name()).collect(Collectors.toSet());
        for (String profile : settings.profiles()) {
            if (!profiles.contains(profile)) {
                throw new SettingsException("Unknown profile " + profile + "; known profiles are " + profiles);
            }
        }
        for (List<String> ids : List.of(settings.only(), settings.skip())) {
            for (String id : ids) {
                if (catalogue.find(id).isEmpty()) {
                    throw new SettingsException(
                            "Unknown requirement " + id + "; the nearest are " + catalogue.nearest(id));
                }
            }
        }
    }

    private List<Requirement> ordered() {
        List<Requirement> wanted = new ArrayList<>(catalogue.requirements());
        wanted.removeIf(requirement -> !isWanted(requirement));
        Collections.shuffle(wanted, new Random(settings.seed()));
        Set<Requirement> all = new LinkedHashSet<>();
        wanted.forEach(requirement -> addNeeds(requirement, all));
        all.addAll(wanted);
        Set<Requirement> ordered = new LinkedHashSet<>();
        ROOTS.stream()
                .map(id -> catalogue.find(id).orElseThrow())
                .filter(all::contains)
                .forEach(root -> {
                    addNeeds(root, ordered);
                    ordered.add(root);
                });
        ordered.addAll(all);
        return new ArrayList<>(ordered);
    }

    private void addNeeds(Requirement requirement, Set<Requirement> ordered) {
        for (String id : requirement.needs()) {
            Requirement need = catalogue.find(id).orElseThrow();
            addNeeds(need, ordered);
            ordered.add(need);
        }
    }

    private boolean isWanted(Requirement requirement) {
        if (!settings.only().isEmpty()) {
            return settings.only().contains(requirement.id());
        }
        return (settings.profiles().isEmpty() || settings.profiles().contains(requirement.profile()))
                && isOfRelease(requirement);
    }

    private boolean isOfRelease(Requirement requirement) {
        return (requirement.since().isEmpty() || release >= minor(requirement.since()))
                && (requirement.until().isEmpty() || release <= minor(requirement.until()));
    }

    private static int minor(String version) {
        return Integer.parseInt(version.split("\\.")[1]);
    }

    /** The order of the catalogue, for the results. */
    static Map<String, Integer> positions(Catalogue catalogue) {
        List<String> ids =
                catalogue.requirements().stream().map(Requirement::id).toList();
        return ids.stream().collect(Collectors.toMap(Function.identity(), ids::indexOf));
    }
}
