// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.mutants;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Requirement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The table of drivers with faults, and that each of them can be made. */
class MutantTest {

    @TempDir Path folder;

    @Test
    void theTableFailsWhatTheCatalogueSays() {
        Map<String, Set<String>> said = new TreeMap<>();
        for (Requirement requirement : Catalogue.load().requirements()) {
            requirement
                    .mutants()
                    .forEach(
                            id ->
                                    said.computeIfAbsent(id, i -> new TreeSet<>())
                                            .add(requirement.id()));
        }
        Map<String, Set<String>> shown = new TreeMap<>();
        Mutant.all()
                .forEach(
                        mutant ->
                                shown.computeIfAbsent(mutant.number(), i -> new TreeSet<>())
                                        .addAll(mutant.requirements()));

        assertThat(shown).isEqualTo(said).hasSize(136);
        assertThat(Mutant.all()).extracting(Mutant::id).doesNotHaveDuplicates();
        assertThat(Mutant.odd()).extracting(Oddity::number).containsAll(numbers());
    }

    @ParameterizedTest
    @MethodSource("io.dra4j.conformance.mutants.Mutant#all")
    void whatIsSaidOfEachIsKnown(Mutant mutant) {
        assertThat(mutant.messages()).containsOnlyKeys(mutant.requirements());
    }

    private static List<String> numbers() {
        List<String> numbers = new ArrayList<>();
        for (int number = 1; number <= 15; number++) {
            numbers.add("H-" + number);
        }
        return numbers;
    }

    static Stream<Mutant> faults() {
        return Mutant.all().stream().filter(mutant -> !mutant.hasMiddleman());
    }

    static Stream<Mutant> middlemen() {
        return Mutant.all().stream().filter(Mutant::hasMiddleman);
    }

    @ParameterizedTest
    @MethodSource("middlemen")
    void everyMiddlemanGetsItsFault(Mutant mutant) {
        MiddleFaults.install(mutant.id().replace("/middle", ""), new Middle());
    }

    @ParameterizedTest
    @MethodSource("faults")
    void everyFaultCanBePutIntoTheDriver(Mutant mutant) throws Exception {
        assertThat(create(mutant.arguments())).isNotNull();
    }

    @ParameterizedTest
    @MethodSource("io.dra4j.conformance.mutants.Mutant#odd")
    void everyOddDriverCanBeMade(Oddity odd) throws Exception {
        assertThat(create(odd.arguments())).isNotNull();
    }

    /** A driver of which the suite tries nothing would be green, too. */
    @Test
    void ofEveryOddDriverSomethingHasToPass() {
        Catalogue catalogue = Catalogue.load();

        assertThat(Mutant.odd()).allSatisfy(odd -> assertThat(odd.passes()).isNotEmpty());
        assertThat(Mutant.odd())
                .flatExtracting(Oddity::requirements)
                .allSatisfy(id -> assertThat(catalogue.find(id)).isPresent());
    }

    @Test
    void anUnknownFaultIsNone() {
        Settings settings = Settings.parse(new String[] {"--fault", "M-999"}, Map.of());

        assertThatThrownBy(() -> BareDriverMain.create(settings)).hasMessageContaining("M-999");
    }

    private BareDriver create(List<String> arguments) throws Exception {
        Path kubeconfig =
                Files.writeString(folder.resolve("kubeconfig"), "server: http://127.0.0.1:1");
        List<String> line = new ArrayList<>(arguments);
        line.addAll(List.of("--kubeconfig", kubeconfig.toString(), "--node-name", "node-1"));
        line.addAll(List.of("--kubelet-plugins-directory-path", folder.toString()));
        return BareDriverMain.create(Settings.parse(line.toArray(String[]::new), Map.of()));
    }
}
