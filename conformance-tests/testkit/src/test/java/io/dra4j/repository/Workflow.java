// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.repository;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A workflow of GitHub Actions, or a composite action, and the rules of this repository for it. */
final class Workflow {

    static final ObjectReader YAML = new YAMLMapper()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .readerFor(JsonNode.class);

    /** None of them gives a pull request of a fork more than the right to read. */
    private static final Set<String> TRIGGERS = Set.of("push", "pull_request", "schedule", "workflow_dispatch");

    private static final Set<String> READ = Set.of("read", "none");

    private static final Pattern USES = Pattern.compile("^ *(?:- )?uses: (.*)$", Pattern.MULTILINE);
    private static final Pattern PINNED = Pattern.compile("[\\w-]+(/[\\w.-]+)+@[0-9a-f]{40} # v\\d+\\.\\d+\\.\\d+");
    private static final Pattern SECRETS = Pattern.compile("\\bsecrets\\b");
    private static final Pattern PATH = Pattern.compile("(?<![\\w./-])(?:\\./|(?:\\.ci|\\.github|conformance-tests"
            + "|docs-site|example-fake-driver|nvidia-driver|sdk-api|sdk-runtime)/)[\\w./-]*[\\w-]");

    private final JsonNode tree;
    private final List<String> faults = new ArrayList<>();

    private Workflow(JsonNode tree) {
        this.tree = tree;
    }

    /** Checks a file, and returns a sentence for each fault. */
    static List<String> faults(String text) throws Exception {
        Workflow workflow = new Workflow(YAML.readTree(text));
        workflow.actions(text);
        workflow.scripts();
        if (!workflow.tree.has("runs")) {
            workflow.workflow();
            workflow.tree.path("jobs").properties().forEach(workflow::job);
        }
        return workflow.faults;
    }

    private void expect(boolean holds, String fault, Object... details) {
        if (!holds) {
            faults.add(fault.formatted(details));
        }
    }

    private void actions(String text) {
        List<String> actions =
                USES.matcher(text).results().map(uses -> uses.group(1)).toList();
        expect(actions.size() == tree.findValues("uses").size(), "an action is not on a line of its own");
        for (String action : actions) {
            if (action.startsWith("./")) {
                String file = action.replaceFirst(" #.*", "") + "/action.yml";
                expect(Files.exists(Script.ROOT.resolve(file)), "%s does not exist", file);
            } else {
                expect(PINNED.matcher(action).matches(), "%s is not pinned: OWNER/NAME@COMMIT # vX.Y.Z", action);
            }
        }
        for (JsonNode step : tree.findParents("uses")) {
            expect(
                    !step.path("uses").asText().startsWith("actions/checkout@")
                            || step.at("/with/persist-credentials").asText().equals("false"),
                    "a checkout keeps the credentials of Git");
        }
    }

    private void scripts() throws Exception {
        for (String script : tree.findValuesAsText("run")) {
            expect(!script.contains("${{"), "an expression in a script, where env is safe: %s", script);
            Script parsed = Script.parse(script);
            expect(parsed.status() == 0, "bash cannot parse: %s", parsed.output());
            for (MatchResult path : PATH.matcher(script).results().toList()) {
                expect(
                        path.group().contains("/target/") || Files.exists(Script.ROOT.resolve(path.group())),
                        "%s does not exist",
                        path.group());
            }
        }
    }

    private void workflow() {
        JsonNode permissions = tree.path("permissions");
        expect(permissions.isObject(), "no permissions of the workflow");
        expect(READ.containsAll(values(permissions)), "permissions of the workflow to write");
        expect(
                tree.at("/defaults/run/shell").asText().equals("bash"),
                "scripts without pipefail: set defaults.run.shell");
        expect(TRIGGERS.containsAll(triggers()), "triggers other than %s: %s", TRIGGERS, triggers());
        expect(tree.path("jobs").size() > 0, "no jobs");
        expect(!triggers().contains("pull_request") || !hasSecrets(tree), "a pull request reaches a secret");
    }

    private void job(Map.Entry<String, JsonNode> entry) {
        JsonNode job = entry.getValue();
        String name = entry.getKey();
        expect(job.path("timeout-minutes").canConvertToInt(), "job %s has no timeout-minutes", name);
        expect(
                !triggers().contains("pull_request") || READ.containsAll(values(job.path("permissions"))),
                "job %s of a pull request has permissions to write",
                name);
        expect(
                job.has("environment") || !hasSecrets(job),
                "job %s has secrets without an environment, which protects them",
                name);
    }

    private static boolean hasSecrets(JsonNode node) {
        return SECRETS.matcher(node.toString()).find();
    }

    private Set<String> triggers() {
        JsonNode on = tree.path("on");
        return on.isTextual()
                ? Set.of(on.asText())
                : on.isArray()
                        ? Set.copyOf(values(on))
                        : on.properties().stream().map(Map.Entry::getKey).collect(Collectors.toSet());
    }

    private static List<String> values(JsonNode node) {
        List<String> values = new ArrayList<>();
        node.forEach(value -> values.add(value.asText()));
        return node.isTextual() ? List.of(node.asText()) : values;
    }
}
