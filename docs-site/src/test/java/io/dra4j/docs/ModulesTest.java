// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.docs;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

    private static final String MODULE = "/project/modules/module | /project/profiles/profile/modules/module";
    private static final String AGGREGATOR = "conformance-tests";

    /** Modules without code, which the check that dependencies were read skips. */
    private static final Set<String> WITHOUT_DEPENDENCIES = Set.of(".ci/style", "sdk-runtime/bom");

    /** The phase of the jars of sources and of Javadoc, set by the modules that vendors depend on. */
    private static final String VENDORS_JARS = "/project/properties/vendor.jars.phase";

    private static final String MANAGED = "/project/dependencyManagement/dependencies/dependency/artifactId";

    static Stream<String> modules() {
        return Module.ALL.keySet().stream();
    }

    @Test
    void theTableListsTheModulesOfTheBuild() throws Exception {
        List<String> modules = new ArrayList<>(texts(Module.ROOT.resolve("pom.xml"), MODULE));
        modules.remove(AGGREGATOR);
        texts(Module.ROOT.resolve(AGGREGATOR).resolve("pom.xml"), MODULE)
                .forEach(module -> modules.add(AGGREGATOR + "/" + module));

        assertThat(modules).containsExactlyInAnyOrderElementsOf(Module.ALL.keySet());
    }

    @Test
    void theBomHasWhatVendorsDependOn() throws Exception {
        List<String> expected = new ArrayList<>(List.of("dra4j-starter"));
        for (String module : Module.ALL.keySet()) {
            Path pom = Module.ROOT.resolve(module).resolve("pom.xml");
            if (texts(pom, VENDORS_JARS).contains("install")) {
                expected.addAll(texts(pom, "/project/artifactId"));
            }
        }
        Path bom = Module.ROOT.resolve("sdk-runtime/bom/pom.xml");

        assertThat(expected).hasSizeGreaterThan(1);
        assertThat(texts(bom, MANAGED)).containsExactlyInAnyOrderElementsOf(expected);
        assertThat(texts(bom, "/project/version")).isEqualTo(texts(Module.ROOT.resolve("pom.xml"), "/project/version"));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void aModuleShipsWithNothingElse(String module) throws Exception {
        List<Dependency> shipped = dependencies(module).stream()
                .filter(one -> !one.scope().equals("test"))
                .toList();

        assertThat(dependencies(module).isEmpty()).isEqualTo(WITHOUT_DEPENDENCIES.contains(module));
        assertThat(shipped)
                .extracting(Dependency::key)
                .isSubsetOf(Module.ALL.get(module).ships());
    }

    @ParameterizedTest
    @MethodSource("modules")
    void aModuleTestsItselfWithNoOtherModule(String module) throws Exception {
        assertThat(dependencies(module))
                .filteredOn(one -> one.scope().equals("test"))
                .filteredOn(one -> one.group().equals("io.dra4j"))
                .extracting(Dependency::key)
                .isSubsetOf(Module.ALL.get(module).tests());
    }

    private static List<Dependency> dependencies(String module) throws Exception {
        Path pom = Module.ROOT.resolve(module).resolve("pom.xml");
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
