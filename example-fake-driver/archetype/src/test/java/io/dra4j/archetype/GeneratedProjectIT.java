// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.archetype;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Element;

/**
 * A generated project of the archetype, built as its user builds it, and tested.
 *
 * <p>All core profiles run only at night: here its ConformanceTest checks one requirement of each.
 */
@Tag("slow")
@Tag("counts")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class GeneratedProjectIT {

    private static final boolean NIGHTLY = Boolean.getBoolean("dra4j.nightly");
    private static final String PROFILES = "profiles: [node-core, cdi, publishing]";
    private static final String FEW = "only: [DRA-PREP-01, DRA-CDI-01, DRA-SLICE-01]";

    @TempDir
    static Path place;

    private static MavenProcess maven;
    private static Path project;

    @BeforeAll
    static void generate() throws Exception {
        maven = MavenProcess.with(place);
        String version = System.getProperty("archetype.version");
        Output output = maven.run(
                place,
                "org.apache.maven.plugins:maven-archetype-plugin:%s:generate"
                        .formatted(System.getProperty("archetype.plugin.version")),
                "-DarchetypeCatalog=internal",
                "-DarchetypeGroupId=io.dra4j",
                "-DarchetypeArtifactId=dra4j-archetype",
                "-DarchetypeVersion=" + version,
                "-DgroupId=com.acme-labs",
                "-DartifactId=fpga-driver",
                "-DdriverName=fpga.acme.com",
                "-DclassName=Fpga");
        assertThat(output.status()).as(output.text()).isZero();
        project = place.resolve("fpga-driver");
        if (!NIGHTLY) {
            tryFewRequirements(project.resolve("src/test/java/com/acme_labs/ConformanceTest.java"));
        }
    }

    private static void tryFewRequirements(Path test) throws IOException {
        String generated = Files.readString(test);
        assertThat(generated).contains(PROFILES);
        Files.writeString(test, generated.replace(PROFILES, FEW));
    }

    @Test
    @Order(1)
    void buildsAndPassesItsTests() throws Exception {
        Output output = maven.run(project, "verify");

        assertThat(output.status()).as(output.text()).isZero();
        Element report = report("com.acme_labs.ConformanceTest");
        assertThat(number(report, "failures") + number(report, "errors")).isZero();
        assertThat(number(report, "tests") - number(report, "skipped")).isGreaterThan(NIGHTLY ? 50 : 2);
    }

    @Test
    @Order(2)
    void startsAsAProgram() throws Exception {
        Output help = Output.of(project, "java", "-jar", "target/fpga-driver.jar", "--help");

        assertThat(help.status()).as(help.text()).isZero();
        assertThat(help.text()).contains("--node-name", "fpga.acme.com");
        assertThat(Output.of(project, "java", "-jar", "target/fpga-driver.jar", "audit", "--help")
                        .status())
                .isZero();
    }

    /** One requirement, for which the driver publishes, prepares and restarts. */
    @Test
    @Order(3)
    void isTriedByTheWholeSuiteWithTheRightsOfItsChart() throws Exception {
        Output run = Output.of(
                project,
                "java",
                "-jar",
                System.getProperty("suite.jar"),
                "run",
                "--config",
                "conformance.yaml",
                "--only=DRA-RST-01");

        assertThat(run.status()).as(run.text()).isZero();
        assertThat(run.text()).containsPattern("pass +DRA-RST-01").contains("the API server refused no request");
    }

    @Test
    @Order(3)
    @EnabledIfSystemProperty(named = "image.built", matches = "true", disabledReason = "this build has no images")
    void hasAnImageWithoutDocker() throws Exception {
        Output output = maven.run(project, "package", "-Pimage", "-DskipTests");

        assertThat(output.status()).as(output.text()).isZero();
        assertThat(project.resolve("target/images")).isDirectoryContaining("glob:**/fpga-driver-*.tar");
    }

    private static Element report(String test) throws Exception {
        Path file = project.resolve("target/surefire-reports/TEST-" + test + ".xml");
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(Files.newInputStream(file))
                .getDocumentElement();
    }

    private static int number(Element report, String attribute) {
        return Integer.parseInt(report.getAttribute(attribute));
    }
}
