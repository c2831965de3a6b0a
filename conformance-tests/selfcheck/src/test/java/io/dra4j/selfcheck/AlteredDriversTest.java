// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.selfcheck.AlteredDrivers.Expected;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The drivers that differ from the bare one, and that each of them can be made. */
@Tag("slow")
class AlteredDriversTest {

    @TempDir
    Path folder;

    private final Catalogue catalogue = Catalogue.load();

    @Test
    void everyNumberIsThere() {
        assertThat(AlteredDrivers.mutants()).extracting(Mutant::id).doesNotHaveDuplicates();
        assertThat(AlteredDrivers.mutants())
                .extracting(mutant -> number(mutant.id()))
                .containsAll(numbers("M-%02d", 136));
        assertThat(AlteredDrivers.variants()).extracting(Variant::id).doesNotHaveDuplicates();
        assertThat(AlteredDrivers.variants())
                .extracting(variant -> number(variant.id()))
                .containsAll(numbers("H-%d", 28).subList(0, 25));
    }

    @Test
    void everyClassIsInAFileAndEveryDriverDiffers() {
        List<String> ofClasses = AlteredDrivers.idsOfClasses().toList();
        List<String> ofOptions = AlteredDrivers.variants().stream()
                .filter(variant -> !variant.options().isEmpty())
                .map(Variant::id)
                .toList();

        assertThat(ofClasses)
                .doesNotHaveDuplicates()
                .isSubsetOf(AlteredDrivers.answers().keySet());
        assertThat(AlteredDrivers.answers()).hasSizeGreaterThan(200);
        AlteredDrivers.answers()
                .forEach((id, answers) -> assertThat(
                                !answers.isEmpty() || ofClasses.contains(id) || ofOptions.contains(id))
                        .as(id)
                        .isTrue());
    }

    @Test
    void anAnswerOfNoMethodIsRefused() {
        assertThatThrownBy(() -> Answers.parts(Map.of("CdiSpecs.writes", Json.object())))
                .hasMessageContaining("CdiSpecs.writes");
    }

    private static String number(String id) {
        return id.replaceFirst("[a-z]$", "");
    }

    private static List<String> numbers(String format, int count) {
        return IntStream.rangeClosed(1, count).mapToObj(format::formatted).toList();
    }

    @Test
    void everyDriverCanBeMade() throws Exception {
        for (Mutant mutant : AlteredDrivers.mutants()) {
            assertThat(create("--fault", mutant.id())).isNotNull();
        }
        for (Variant variant : AlteredDrivers.variants()) {
            assertThat(create("--variant", variant.id())).isNotNull();
        }
    }

    @Test
    void anUnknownFaultIsNone() {
        assertThatThrownBy(() -> create("--fault", "M-999")).hasMessageContaining("M-999");
    }

    @Test
    void whatReplacesNoPartOfTheDriverIsRefused() {
        assertThatThrownBy(() -> new Parts(Settings.parse(new String[0], Map.of()), List.of(String.class)))
                .hasMessageContaining("replaces no part");
    }

    private BareDriver create(String... arguments) throws Exception {
        Path kubeconfig = Files.writeString(folder.resolve("kubeconfig"), "server: http://127.0.0.1:1");
        List<String> line = new ArrayList<>(List.of(arguments));
        line.addAll(List.of("--kubeconfig", kubeconfig.toString(), "--node-name", "node-1"));
        line.addAll(List.of("--kubelet-plugins-directory-path", folder.toString()));
        return BareDriverMain.create(Settings.parse(line.toArray(String[]::new), Map.of()));
    }

    @Test
    void everyVariantPassesSomeRequirements() {
        assertThat(AlteredDrivers.variants())
                .allSatisfy(variant -> assertThat(variant.passes()).isNotEmpty());
    }

    @Test
    void everyRequirementThatIsNamedIsInTheCatalogue() {
        Stream<String> ofMutants =
                AlteredDrivers.mutants().stream().flatMap(m -> Stream.concat(violated(m), m.collateral().stream()));
        Stream<String> ofVariants = AlteredDrivers.variants().stream()
                .flatMap(v ->
                        Stream.of(v.passes(), v.notApplicable(), v.untested()).flatMap(List::stream));

        assertThat(Stream.concat(ofMutants, ofVariants))
                .allSatisfy(id -> assertThat(catalogue.find(id)).as(id).isPresent());
    }

    @Test
    void everyRequirementIsViolatedByAMutant() {
        Map<String, String> reasons = Map.of(
                "DRA-VER-01", "a variant that serves v1 alone is warned of it",
                "DRA-VER-04",
                        "the API server of the suite serves v1 alone, so that a driver of"
                                + " older versions fails everything",
                "DRA-PREP-35", "it is not tested",
                "DRA-RST-13", "providers in the suite's JVM violate it, in DraConformanceIT",
                "DRA-PERF-04", "it is not tested");
        Set<String> violated = AlteredDrivers.mutants().stream()
                .flatMap(AlteredDriversTest::violated)
                .collect(Collectors.toSet());

        assertThat(catalogue.requirements())
                .extracting(Requirement::id)
                .filteredOn(id -> !violated.contains(id))
                .containsExactlyInAnyOrderElementsOf(reasons.keySet());
    }

    /** Otherwise the second of them would be BLOCKED, and its violation not seen. */
    @Test
    void noRequirementNeedsAnotherThatItsOwnMutantViolates() {
        assertThat(AlteredDrivers.mutants())
                .allSatisfy(mutant -> assertThat(violated(mutant).flatMap(this::needs))
                        .doesNotContainAnyElementsOf(violated(mutant).toList()));
    }

    private static Stream<String> violated(Mutant mutant) {
        return AlteredDrivers.expected(mutant.violations()).stream().map(Expected::requirement);
    }

    private Stream<String> needs(String id) {
        return catalogue.find(id).orElseThrow().needs().stream()
                .flatMap(need -> Stream.concat(Stream.of(need), needs(need)));
    }
}
