// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.Outcome;
import io.dra4j.conformance.run.Progress;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.conformance.settings.DriverAdapters;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.DriverTrouble;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;

/** Lets the suite try an odd driver, and says what it wrongly found. */
final class OddJudge {

    private static final Set<Verdict> GREEN =
            Set.of(Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNTESTED);

    private static final ObjectMapper JSON = new ObjectMapper();

    /** Where the hooks of the settings leave what they have to tell. */
    private static final Map<String, String> ENVIRONMENT =
            Map.of("FAULT_FILE", "{ROOT}/faults", "PROC_ROOT", "{ROOT}/proc");

    private final Catalogue catalogue = Catalogue.load();
    private final boolean whole;
    private final Map<String, JsonNode> more;

    /**
     * Makes a judge.
     *
     * @param whole whether all core profiles are tried, and not only what the table names
     */
    OddJudge(boolean whole) {
        this(whole, Map.of());
    }

    /** The same, with more settings, by JSON pointer. */
    OddJudge(boolean whole, Map<String, JsonNode> more) {
        this.whole = whole;
        this.more = more;
    }

    /** Returns what the suite got wrong, a line each; nothing if the driver stays green. */
    List<String> complaints(Oddity odd) throws Exception {
        List<Result> results;
        try {
            results = run(odd).results();
        } catch (DriverTrouble | CompletionException | UncheckedIOException e) {
            return List.of("the suite ended: " + e);
        }
        List<String> complaints = new ArrayList<>();
        results.stream()
                .filter(result -> !isGreen(odd, result))
                .map(MutantJudge::text)
                .forEach(complaints::add);
        due(odd.passes(), Verdict.PASS, results).forEach(complaints::add);
        due(odd.notApplicable(), Verdict.NOT_APPLICABLE, results).forEach(complaints::add);
        due(odd.untested(), Verdict.UNTESTED, results).forEach(complaints::add);
        due(List.copyOf(odd.warned().keySet()), Verdict.WARN, results).forEach(complaints::add);
        return complaints;
    }

    private Outcome run(Oddity odd) throws Exception {
        String text = MutantJudge.settings() + selection(odd) + "\n";
        Settings settings = SettingsReader.parse(text, "settings.yaml", flags(odd));
        DriverAdapter driver = DriverAdapters.of(settings.driver());
        return new Engine(settings, driver, catalogue, Progress.NONE).run();
    }

    private String selection(Oddity odd) {
        if (whole) {
            List<String> core =
                    catalogue.profiles().stream().filter(Profile::core).map(Profile::name).toList();
            return "profiles: " + core;
        }
        Stream<String> canaries = odd.slow() ? Stream.of() : MutantJudge.CANARIES.stream();
        return "only: " + Stream.concat(odd.requirements().stream(), canaries).toList();
    }

    private Map<String, JsonNode> flags(Oddity odd) throws IOException, InterruptedException {
        Map<String, JsonNode> flags = new HashMap<>();
        flags.put("/driver/process/command", JSON.valueToTree(odd.command()));
        flags.put("/driver/process/environment", JSON.valueToTree(ENVIRONMENT));
        flags.put("/driver/seamlessUpgrade", BooleanNode.valueOf(whole)); // it takes its time
        flags.put("/driver/declares", JsonNodeFactory.instance.arrayNode().add("adm"));
        flags.putAll(odd.settings());
        flags.putAll(more);
        return flags;
    }

    private static boolean isGreen(Oddity odd, Result result) {
        boolean warned =
                result.verdict() == Verdict.WARN
                        && odd.warned().containsKey(result.requirement().id());
        return warned || GREEN.contains(result.verdict());
    }

    /** The requirements of the table that were tried, and did not come out as it says. */
    private Stream<String> due(List<String> ids, Verdict verdict, List<Result> results) {
        return ids.stream().flatMap(id -> due(id, verdict, results));
    }

    private Stream<String> due(String id, Verdict verdict, List<Result> results) {
        List<Result> own = results.stream().filter(r -> r.requirement().id().equals(id)).toList();
        if (own.isEmpty() && !whole) {
            return Stream.of(id + " was not tried");
        }
        return own.stream()
                .filter(result -> result.verdict() != verdict)
                .map(result -> verdict + " is due: " + MutantJudge.text(result));
    }
}
