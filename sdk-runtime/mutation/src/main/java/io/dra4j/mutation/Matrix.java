// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/** The mutants of a module and the tests that kill them, from a report of PIT. */
record Matrix(List<Mutant> mutants) {

    /**
     * A mutant and its tests.
     *
     * @param killers empty if it survives, or was killed by a time limit, when PIT can't name the test
     * @param covering the tests that execute its code
     */
    record Mutant(String place, boolean killed, Set<String> killers, Set<String> covering) {

        boolean needs(Collection<String> tests) {
            return killed && tests.containsAll(killers.isEmpty() ? covering : killers);
        }
    }

    static Matrix read(Path report) throws IOException {
        List<Mutant> mutants = new ArrayList<>();
        Map<String, String> names = new HashMap<>(); // hundreds of tests, each named thousands of times
        try (InputStream in = Files.newInputStream(report)) {
            XMLStreamReader xml = XMLInputFactory.newDefaultFactory().createXMLStreamReader(in);
            while (xml.hasNext()) {
                if (xml.next() == XMLStreamReader.START_ELEMENT
                        && xml.getLocalName().equals("mutation")) {
                    mutants.add(mutant(xml, names));
                }
            }
        } catch (XMLStreamException e) {
            throw new IOException(report + " is not a report of PIT: " + e.getMessage(), e);
        }
        return new Matrix(mutants);
    }

    private static Mutant mutant(XMLStreamReader xml, Map<String, String> names) throws XMLStreamException {
        boolean killed = Boolean.parseBoolean(xml.getAttributeValue(null, "detected"));
        Map<String, StringBuilder> texts = new HashMap<>();
        StringBuilder text = new StringBuilder();
        while (xml.next() != XMLStreamReader.END_ELEMENT || !xml.getLocalName().equals("mutation")) {
            if (xml.isStartElement()) {
                text = texts.computeIfAbsent(xml.getLocalName(), name -> new StringBuilder());
            } else if (xml.isCharacters()) {
                text.append(xml.getText());
            }
        }
        String place = texts.get("mutatedClass") + "." + texts.get("mutatedMethod") + ":" + texts.get("lineNumber")
                + ": " + texts.get("description");
        return new Mutant(place, killed, tests(texts, "killingTests", names), tests(texts, "coveringTests", names));
    }

    /** Without the matrix, PIT writes one {@code killingTest} instead of these lists. */
    private static Set<String> tests(Map<String, StringBuilder> texts, String element, Map<String, String> names) {
        return Stream.of(texts.getOrDefault(element, new StringBuilder())
                        .toString()
                        .split("\\|"))
                .filter(name -> !name.isEmpty())
                .map(name -> names.computeIfAbsent(name, same -> same))
                .collect(Collectors.toSet());
    }

    Share killed() {
        return new Share(mutants.stream().filter(Mutant::killed).count(), mutants.size());
    }

    /** A line for each test: how many mutants it kills, how many of them no other test kills, and its name. */
    List<String> table() {
        Map<String, int[]> counts = new TreeMap<>();
        for (Mutant mutant : mutants) {
            mutant.covering().forEach(test -> counts.computeIfAbsent(test, name -> new int[2]));
            for (String test : mutant.killers()) {
                int[] count = counts.computeIfAbsent(test, name -> new int[2]);
                count[0]++;
                count[1] += mutant.killers().size() == 1 ? 1 : 0;
            }
        }
        List<String> lines = new ArrayList<>(List.of("kills\talone\ttest"));
        counts.forEach((test, count) -> lines.add(count[0] + "\t" + count[1] + "\t" + test));
        return lines;
    }

    /** The tests of a class, of a nested class or of a method, which may be named without its parameters. */
    Set<String> testsOf(String name) {
        return mutants.stream()
                .flatMap(mutant -> mutant.covering().stream())
                .filter(test -> test.equals(name) || test.startsWith(name + ".") || test.startsWith(name + "("))
                .collect(Collectors.toSet());
    }
}
