// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Expressions are refused in the words of kube-apiserver, and hostile ones in time. */
class DeviceExpressionsTest {

    private static final String NOTHING =
            "Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!',"
                    + " 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES,"
                    + " IDENTIFIER}";
    private static final Map<FeatureGate, Boolean> WITH_LISTS = Map.of(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES, true);

    private static final DeviceExpressions EXPRESSIONS = of(KubernetesVersion.V1_36, Map.of());

    private static DeviceExpressions of(KubernetesVersion version, Map<FeatureGate, Boolean> gates) {
        return new DeviceExpressions(new FeatureGates(version, gates));
    }

    private static String problem(String expression) {
        return EXPRESSIONS.selectorProblem(expression);
    }

    @Test
    void aSyntaxErrorIsMarked() {
        assertThat(problem("device.driver =="))
                .isEqualTo("compilation failed: ERROR: <input>:1:17: %s\n | device.driver ==\n | ................^"
                        .formatted(NOTHING));
        assertThat(problem("")).isEqualTo("compilation failed: ERROR: <input>:1:0: " + NOTHING);
        assertThat(problem("device.driver)"))
                .contains("<input>:1:14: Syntax error: extraneous input ')' expecting <EOF>");
    }

    @Test
    void eachErrorOfTypesIsMarked() {
        assertThat(problem("foo"))
                .isEqualTo(
                        "compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo' (in container '')\n | foo\n | ^");
        assertThat(problem("true &&\n  foo && bar").lines())
                .containsExactly(
                        "compilation failed: ERROR: <input>:2:3: undeclared reference to 'foo' (in container '')",
                        " |   foo && bar",
                        " | ..^",
                        "ERROR: <input>:2:10: undeclared reference to 'bar' (in container '')",
                        " |   foo && bar",
                        " | .........^");
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/allocator/cel/the-result-is-a-bool-or-unknown.csv",
            delimiterString = "=>",
            quoteCharacter = '`')
    void theResultIsABoolOrUnknown(String expression, String problem) {
        assertThat(problem(expression)).isEqualTo(problem);
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/allocator/cel/an-error-has-the-servers-words.csv",
            delimiterString = "=>",
            quoteCharacter = '`')
    void anErrorHasTheServersWords(String expression, String words) {
        String first = problem(expression).lines().findFirst().orElseThrow();

        assertThat(first.replaceFirst("compilation failed: ERROR: <input>:\\d+:\\d+: ", ""))
                .isEqualTo(words);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "device.attributes['a'].b",
                "device.attributes['a'].b == 'x' || device.attributes['a'].b < 4",
                "device.attributes['a'].?b.orValue(true)",
                "has(device.allowMultipleAllocations) && device.allowMultipleAllocations",
                "cel.bind(a, device.attributes['a'], a.b && a.c)",
                "device.attributes.all(domain, names, names.size() > 0)",
                "[2, 1].sort() == [1, 2]"
            })
    void compiles(String expression) {
        assertThat(problem(expression)).isEmpty();
    }

    @Test
    void theExpressionsOfAllocatorsCasesCompile() throws IOException {
        List<String> all = FunctionsTest.lines("allocator-cases.txt").toList();

        assertThat(all).hasSizeGreaterThan(30).allSatisfy(expression -> {
            DeviceExpressions release =
                    expression.contains("includes") ? of(KubernetesVersion.V1_36, WITH_LISTS) : EXPRESSIONS;
            assertThat(release.selectorProblem(expression)).isEmpty();
            DeviceSelector.compile(expression);
        });
    }

    @ParameterizedTest
    @CsvSource({"4,false", "6,true", "20,true"})
    void loopsInLoopsCostTooMuch(int depth, boolean tooMuch) {
        String loop = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x, ";
        String loops = loop.repeat(depth) + "x > 0" + ")".repeat(depth);

        assertThat(problem(loops)).isEmpty();
        assertThat(EXPRESSIONS.exceedsCost(loops)).isEqualTo(tooMuch);
    }

    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/allocator/cel/the-cost-is-counted-as-in-kubernetes.csv",
            delimiterString = "=>",
            quoteCharacter = '\'')
    void theCostIsCountedAsInKubernetes(String expression, long cost) {
        assertThat(Cost.least(
                        new Compiler(Environment.STORED).compile(expression).getExpr()))
                .isEqualTo(cost);
    }

    @Test
    void aReleaseTakesTheFunctionsOfTheOneBefore() {
        String sorted = "[2, 1].sort() == [1, 2]";

        assertThat(of(KubernetesVersion.V1_34, Map.of()).selectorProblem(sorted))
                .contains("undeclared reference to 'sort'");
        assertThat(of(KubernetesVersion.V1_35, Map.of()).selectorProblem(sorted))
                .isEmpty();
    }

    @Test
    void aGateBringsItsField() {
        String shared = "device.allowMultipleAllocations";

        assertThat(of(KubernetesVersion.V1_35, Map.of()).selectorProblem(shared))
                .contains("undefined field 'allowMultipleAllocations'");
        assertThat(problem(shared)).isEmpty();
    }

    @Test
    void theGateOfListsMakesAttributesDynamic() {
        DeviceExpressions in136 = of(KubernetesVersion.V1_36, WITH_LISTS);
        DeviceExpressions in137 = of(KubernetesVersion.V1_37, WITH_LISTS);

        for (String expression : new String[] {
            "device.attributes['a'].b.includes('x')",
            "device.attributes['a'].b.exists(x, x == 1)",
            "device.attributes['a'].b"
        }) {
            assertThat(in136.selectorProblem(expression)).isEmpty();
            assertThat(in137.selectorProblem(expression)).isEmpty();
        }
        assertThat(problem("device.attributes['a'].b.includes('x')")).contains("undeclared reference to 'includes'");
        assertThat(in136.selectorProblem("device.attributes")).endsWith("not map(string, map(string, dyn))");
    }

    @Test
    void aDerivedAttributeIsAScalar() {
        DeviceExpressions in137 = of(KubernetesVersion.V1_37, Map.of());

        for (String expression : new String[] {"1", "device.driver", "semver('1.0.0')", "device.attributes['a'].b"}) {
            assertThat(in137.derivedAttributeProblem(expression)).isEmpty();
        }
        assertThat(in137.derivedAttributeProblem("[1]"))
                .isEqualTo("must evaluate to a primitive scalar (string, integer, boolean, semver), not list(int)");
        DeviceExpressions lists = of(KubernetesVersion.V1_37, WITH_LISTS);
        assertThat(lists.derivedAttributeProblem("[1]")).isEmpty();
        assertThat(lists.derivedAttributeProblem("[[1]]")).endsWith("or a list of these scalars, not list(list(int))");
    }

    @Nested
    class Hostile {

        private static final int LENGTH = 10 * 1024;
        private static final Duration SOON = Duration.ofSeconds(20);
        private static final String TOO_DEEP =
                "compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: 250";

        private static final List<String> WORDS =
                List.of(("device . driver attributes [ ] \"a\" ( ) { } == && || ! - ? : .? [? 1 1u 1.5e9 0x ' "
                                + "\"\"\" b'\\377' r\" \n \\ has( .all(x, .map(x, x in cel.bind(x, quantity( semver('1') "
                                + "ip .matches('(') \u0000 \ud800 日本 😀 null true % // kubernetes.DRADevice{")
                        .split(" "));

        private String answer(String expression) {
            return Assertions.assertTimeoutPreemptively(SOON, () -> problem(expression));
        }

        @ParameterizedTest
        @ValueSource(strings = {"(", "[", "{", "f(", "has(", "1+", "1==", "[1].all(x,", "cel.bind(x,1,"})
        void nestingEndsWhereTheServersDoes(String part) {
            String nested = part.repeat(LENGTH / part.length() - 1) + "1";

            assertThat(answer(nested)).isEqualTo(TOO_DEEP);
            assertThat(answer("device" + ".a".repeat(LENGTH / 2 - 3))).isEqualTo(TOO_DEEP);
        }

        @ParameterizedTest
        @ValueSource(strings = {"!", "-", "@", "\"", "'", "1 ", "\n", "x?", ")", "\ud800", "a", "true&&"})
        void lengthAloneDoesNoHarm(String part) {
            String expression = part.repeat(LENGTH / part.length());

            assertThatCode(() -> answer(expression)).doesNotThrowAnyException();
            assertThatCode(() -> answer(expression + "true")).doesNotThrowAnyException();
        }

        @Test
        void randomTextsAreAnswered() {
            Random random = new Random(Long.getLong("dra4j.seed", 26));
            int count = Boolean.getBoolean("dra4j.full") ? 20_000 : 2_000;
            int accepted = 0;
            for (int i = 0; i < count; i++) {
                StringBuilder text = new StringBuilder();
                for (int words = random.nextInt(1, 12); words > 0; words--) {
                    text.append(WORDS.get(random.nextInt(WORDS.size())));
                }
                String expression = text.toString();
                accepted += answer(expression).isEmpty() ? 1 : 0;
            }

            assertThat(accepted).isLessThan(count / 10);
        }
    }
}
