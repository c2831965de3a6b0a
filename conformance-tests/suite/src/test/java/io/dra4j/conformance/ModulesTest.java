// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The table of modules: what each may depend on, as its pom declares. */
class ModulesTest {

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    private static final String MODULE = "/project/modules/module | /project/profiles/profile/modules/module";
    private static final String AGGREGATOR = "conformance-tests";

    /** Libraries are named by group, so that their artifacts may change; modules by artifact. */
    private static final Map<String, Set<String>> MAY_SHIP = Map.ofEntries(
            entry(".ci/style", Set.of()),
            entry("sdk-api", Set.of("org.jspecify")),
            entry("sdk-runtime/rules", Set.of("org.jspecify", "com.fasterxml.jackson.core")),
            entry(
                    "sdk-runtime/allocator",
                    Set.of("dra4j-resource-rules", "org.jspecify", "com.fasterxml.jackson.core", "dev.cel")),
            entry(
                    "sdk-runtime/doctor",
                    Set.of(
                            "dra4j-resource-rules",
                            "org.jspecify",
                            "com.fasterxml.jackson.core",
                            "com.fasterxml.jackson.dataformat")),
            entry(
                    "sdk-runtime/kubectl",
                    Set.of(
                            "dra4j-allocator",
                            "dra4j-doctor",
                            "dra4j-resource-rules",
                            "org.jspecify",
                            "org.slf4j",
                            "io.fabric8",
                            "com.fasterxml.jackson.core",
                            "com.fasterxml.jackson.dataformat",
                            "info.picocli")),
            entry(
                    "conformance-tests/testkit",
                    Set.of(
                            "dra4j-resource-rules",
                            "dra4j-allocator",
                            "org.jspecify",
                            "org.slf4j",
                            "io.grpc",
                            "io.netty",
                            "org.eclipse.jetty",
                            "org.eclipse.jetty.http2",
                            "io.fabric8",
                            "io.kubernetes",
                            "com.google.protobuf",
                            "com.fasterxml.jackson.core",
                            "com.fasterxml.jackson.dataformat",
                            "org.junit.jupiter",
                            "ch.qos.logback")),
            entry(
                    "sdk-runtime",
                    Set.of(
                            "dra4j-sdk-api",
                            "dra4j-resource-rules",
                            "dra4j-doctor",
                            "org.jspecify",
                            "org.slf4j",
                            "io.grpc",
                            "com.google.protobuf",
                            "io.netty",
                            "io.fabric8",
                            "com.fasterxml.jackson.core",
                            "com.fasterxml.jackson.dataformat",
                            "com.fasterxml.jackson.datatype",
                            "io.micrometer",
                            "info.picocli",
                            "ch.qos.logback")),
            entry("sdk-runtime/bom", Set.of()),
            entry("sdk-runtime/mutation", Set.of("org.pitest", "org.junit.platform", "org.jspecify")),
            entry("sdk-runtime/starter", Set.of("dra4j-sdk-runtime", "org.slf4j", "ch.qos.logback")),
            entry(
                    "example-fake-driver",
                    Set.of(
                            "dra4j-sdk-api",
                            "dra4j-sdk-runtime",
                            "org.jspecify",
                            "org.slf4j",
                            "info.picocli",
                            "ch.qos.logback")),
            entry("example-fake-driver/archetype", Set.of()),
            entry(
                    "nvidia-driver",
                    Set.of(
                            "dra4j-sdk-api",
                            "dra4j-sdk-runtime",
                            "org.jspecify",
                            "org.slf4j",
                            "net.java.dev.jna",
                            // what is recorded of a claim, and the slices that a probe
                            // prints
                            "com.fasterxml.jackson.core",
                            "com.fasterxml.jackson.dataformat",
                            "info.picocli",
                            "ch.qos.logback")),
            entry(
                    "conformance-tests/drivertest",
                    Set.of(
                            "dra4j-sdk-api",
                            "dra4j-sdk-runtime",
                            "dra4j-testkit",
                            "org.jspecify",
                            "com.fasterxml.jackson.core",
                            "com.fasterxml.jackson.dataformat",
                            "org.junit.jupiter")),
            entry(
                    "conformance-tests/charttest",
                    Set.of(
                            "dra4j-testkit",
                            "dra4j-allocator",
                            "org.jspecify",
                            "com.marcnuri.helm-java",
                            "net.java.dev.jna",
                            "io.fabric8",
                            "com.fasterxml.jackson.core",
                            "com.fasterxml.jackson.dataformat",
                            "org.junit.jupiter",
                            "org.assertj")),
            entry(
                    "sdk-runtime/benchmarks",
                    Set.of(
                            "dra4j-sdk-api",
                            "dra4j-sdk-runtime",
                            "dra4j-nvidia-driver",
                            "org.jspecify",
                            "org.openjdk.jmh")),
            entry(
                    "sdk-runtime/images",
                    Set.of(
                            "dra4j-example-fake-driver",
                            "dra4j-nvidia-driver",
                            "dra4j-conformance-tests",
                            "org.jspecify",
                            "com.google.cloud.tools",
                            "org.apache.commons",
                            "com.fasterxml.jackson.core")),
            entry("conformance-tests/selfcheck", Set.of()),
            entry("docs-site", Set.of()),
            entry(
                    "conformance-tests/suite",
                    Set.of(
                            "dra4j-testkit",
                            "dra4j-resource-rules",
                            "dra4j-sdk-runtime",
                            "org.jspecify",
                            "org.slf4j",
                            "dra4j-allocator",
                            "com.fasterxml.jackson.core",
                            "com.fasterxml.jackson.dataformat",
                            "org.junit.platform",
                            "org.junit.jupiter",
                            "info.picocli")));

    /** Modules of poms alone: a check that dependencies were read passes over them. */
    private static final Set<String> WITHOUT_DEPENDENCIES = Set.of(".ci/style", "sdk-runtime/bom");

    /**
     * The phase of the jars of sources and of Javadoc, which modules set that vendors depend on.
     */
    private static final String VENDORS_JARS = "/project/properties/vendor.jars.phase";

    private static final String MANAGED = "/project/dependencyManagement/dependencies/dependency/artifactId";

    /** Our modules that a module tests itself with. */
    private static final Map<String, Set<String>> MAY_TEST_WITH = Map.ofEntries(
            entry("sdk-runtime/doctor", Set.of("dra4j-testkit")),
            entry("sdk-runtime/kubectl", Set.of("dra4j-testkit")),
            entry("conformance-tests/testkit", Set.of("dra4j-resource-rules")),
            entry("sdk-runtime", Set.of("dra4j-testkit")),
            entry("example-fake-driver", Set.of("dra4j-testkit", "dra4j-driver-test", "dra4j-chart-test")),
            entry("conformance-tests/charttest", Set.of("dra4j-testkit")),
            entry("conformance-tests/drivertest", Set.of("dra4j-testkit")),
            entry("sdk-runtime/images", Set.of("dra4j-testkit")),
            entry(
                    "example-fake-driver/archetype",
                    Set.of("dra4j-bom", "dra4j-starter", "dra4j-driver-test", "dra4j-conformance-tests")),
            entry("conformance-tests/suite", Set.of("dra4j-testkit")),
            entry(
                    "conformance-tests/selfcheck",
                    Set.of(
                            "dra4j-conformance-tests",
                            "dra4j-testkit",
                            "dra4j-driver-test",
                            "dra4j-example-fake-driver")),
            entry(
                    "nvidia-driver",
                    Set.of("dra4j-testkit", "dra4j-driver-test", "dra4j-conformance-tests", "dra4j-chart-test")),
            entry("docs-site", Set.of("dra4j-nvidia-driver", "dra4j-example-fake-driver", "dra4j-conformance-tests")));

    static Stream<String> modules() {
        return MAY_SHIP.keySet().stream();
    }

    @Test
    void theTableListsTheModulesOfTheBuild() throws Exception {
        List<String> modules = new ArrayList<>(texts(ROOT.resolve("pom.xml"), MODULE));
        modules.remove(AGGREGATOR);
        texts(ROOT.resolve(AGGREGATOR).resolve("pom.xml"), MODULE)
                .forEach(module -> modules.add(AGGREGATOR + "/" + module));

        assertThat(modules).containsExactlyInAnyOrderElementsOf(MAY_SHIP.keySet());
    }

    @Test
    void theBomHasWhatVendorsDependOn() throws Exception {
        List<String> expected = new ArrayList<>(List.of("dra4j-starter"));
        for (String module : MAY_SHIP.keySet()) {
            Path pom = ROOT.resolve(module).resolve("pom.xml");
            if (texts(pom, VENDORS_JARS).contains("install")) {
                expected.addAll(texts(pom, "/project/artifactId"));
            }
        }
        Path bom = ROOT.resolve("sdk-runtime/bom/pom.xml");

        assertThat(expected).hasSizeGreaterThan(1);
        assertThat(texts(bom, MANAGED)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(texts(bom, "/project/version")).isEqualTo(texts(ROOT.resolve("pom.xml"), "/project/version"));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void aModuleShipsWithNothingElse(String module) throws Exception {
        List<Dependency> shipped = dependencies(module).stream()
                .filter(one -> !one.scope().equals("test"))
                .toList();

        assertThat(dependencies(module).isEmpty()).isEqualTo(WITHOUT_DEPENDENCIES.contains(module));
        assertThat(shipped).extracting(Dependency::key).isSubsetOf(MAY_SHIP.get(module));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void aModuleTestsItselfWithNoOtherModule(String module) throws Exception {
        assertThat(dependencies(module))
                .filteredOn(one -> one.scope().equals("test"))
                .filteredOn(one -> one.group().equals("io.dra4j"))
                .extracting(Dependency::key)
                .isSubsetOf(MAY_TEST_WITH.getOrDefault(module, Set.of()));
    }

    private static List<Dependency> dependencies(String module) throws Exception {
        Path pom = ROOT.resolve(module).resolve("pom.xml");
        NodeList nodes = find(pom, "/project/dependencies/dependency");
        return IntStream.range(0, nodes.getLength())
                .mapToObj(index -> Dependency.of((Element) nodes.item(index)))
                .toList();
    }

    private static List<String> texts(Path pom, String path) throws Exception {
        NodeList nodes = find(pom, path);
        return IntStream.range(0, nodes.getLength())
                .mapToObj(index -> nodes.item(index).getTextContent())
                .toList();
    }

    private static NodeList find(Path pom, String path) throws Exception {
        XPath xpath = XPathFactory.newInstance().newXPath();
        return (NodeList) xpath.evaluate(
                path,
                DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile()),
                XPathConstants.NODESET);
    }

    private record Dependency(String group, String artifact, String scope) {

        static Dependency of(Element element) {
            String scope = text(element, "scope");
            return new Dependency(
                    text(element, "groupId"), text(element, "artifactId"), scope.isEmpty() ? "compile" : scope);
        }

        String key() {
            return group.equals("io.dra4j") ? artifact : group;
        }

        private static String text(Element element, String name) {
            NodeList found = element.getElementsByTagName(name);
            return found.getLength() == 0 ? "" : found.item(0).getTextContent().strip();
        }
    }
}
