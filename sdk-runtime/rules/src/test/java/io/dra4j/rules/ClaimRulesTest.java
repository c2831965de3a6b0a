// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.Trees.repeat;
import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Claims with their status, classes of devices, and rules that taint them. */
class ClaimRulesTest {

    private static final Path FILE = Path.of("src/test/resources/io/dra4j/rules/claims-and-classes.txt");
    private static final Pattern HEAD = Pattern.compile("(\\S+) (.*?) (\\{.*|\\$)");
    private static final Pattern ELEMENTS = Pattern.compile("<(\\d+)(,?) ([^<>]+)>");

    private static final ExpressionCompiler FINDS_BAD = new ExpressionCompiler() {
        @Override
        public String selectorProblem(String expression) {
            return expression.equals("bad") ? "no selector" : "";
        }

        @Override
        public String derivedAttributeProblem(String expression) {
            return expression.equals("bad") ? "no attribute" : "";
        }

        @Override
        public boolean exceedsCost(String expression) {
            return expression.equals("costly");
        }
    };

    /**
     * A row of the file.
     *
     * @param kind the kind of the object
     * @param field the field with which complaints begin
     * @param object the object
     * @param complaints the complaints, without the field
     */
    private record Row(String kind, String field, String object, List<String> complaints) {}

    static Stream<Row> rows() throws IOException {
        return Stream.of(Files.readString(FILE).split("\n## ")).skip(1).flatMap(ClaimRulesTest::rows);
    }

    private static Stream<Row> rows(String section) {
        Matcher head = HEAD.matcher(section);
        assertThat(head.find()).as(section).isTrue();
        return section.lines().skip(1).filter(line -> !line.matches("|#.*")).map(line -> {
            assertThat(line).contains(" |");
            int end = line.lastIndexOf(" |");
            String complaints = line.substring(end + 2).strip();
            String object = elementsIn(head.group(3).replace("$", line.substring(0, end)));
            return new Row(
                    head.group(1),
                    head.group(2),
                    object,
                    complaints.isEmpty() ? List.of() : List.of(complaints.split(" && ")));
        });
    }

    private static String elementsIn(String text) {
        return ELEMENTS.matcher(text).replaceAll(found -> {
            int count = Integer.parseInt(found.group(1));
            return Matcher.quoteReplacement(
                    repeat(found.group(2), count, i -> found.group(3).replace("#", "" + i)));
        });
    }

    private static void check(String kind, String object, FieldErrors errors) {
        KubernetesVersion newest = KubernetesVersion.newest();
        switch (kind) {
            case "class" -> ClassRules.check(tree(object), FINDS_BAD, errors);
            case "taint-rule" -> TaintRuleRules.check(tree(object), FINDS_BAD, errors);
            case "status" -> ClaimRules.checkStatus(tree(object), tree("{}"), newest, errors);
            case "report" -> ClaimRules.checkStatus(tree(object), tree(object), newest, errors);
            case "update", "deleted" -> {
                ObjectNode old = tree("{'status':" + object.split(" => ")[0] + "}");
                ObjectNode next = tree("{'status':" + object.split(" => ")[1] + "}");
                if (kind.equals("deleted")) {
                    next.putObject("metadata").put("deletionTimestamp", "2026-01-01T00:00:00Z");
                }
                ClaimRules.checkStatus(next, old, newest, errors);
            }
            default -> {
                KubernetesVersion version =
                        kind.equals("claim") ? newest : KubernetesVersion.parse(kind.replace("claim-of-", ""));
                FeatureGates gates = new FeatureGates(version, Map.of());
                ClaimRules.checkSpec(tree(object), "spec", gates, FINDS_BAD, errors);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("rows")
    void areJudgedInTheWordsOfTheServer(Row row) {
        FieldErrors errors = new FieldErrors();

        check(row.kind(), row.object(), errors);

        List<String> found = errors.all().stream().map(Object::toString).toList();
        assertThat(found).hasSameSizeAs(row.complaints());
        for (int i = 0; i < found.size(); i++) {
            String complaint = row.field() + row.complaints().get(i);
            assertThat(found.get(i))
                    .matches(
                            it -> complaint.endsWith("...")
                                    ? it.startsWith(complaint.replace("...", ""))
                                    : it.equals(complaint),
                            complaint);
        }
    }

    @Test
    void equalIsTheOperatorByDefault() {
        ObjectNode spec = tree(
                "{'devices':{'requests':[{'exactly':{'tolerations':[{'key':'k'},{'operator':'Exists'}]}},{'firstAvailable':[{'tolerations':[{}]}]}]}}");
        ClaimRules.setDefaults(spec);
        assertThat(spec.findValuesAsText("operator")).containsExactly("Equal", "Exists", "Equal");
    }

    @Test
    void oneDeviceIsTheCountByDefaultAndForNoOtherNumber() {
        ObjectNode spec = tree(
                "{'devices':{'requests':[{'exactly':{}},{'exactly':{'count':0}},{'exactly':{'count':4294967296}}]}}");
        ClaimRules.setDefaults(spec);
        assertThat(spec.findValuesAsText("count")).containsExactly("1", "1", "4294967296");
    }
}
