// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The CycloneDX SBOM of an image. CycloneDX's Maven plugin supplies the jars, to which the JDK and Debian's packages
 * are added.
 */
final class Sbom {

    /** Its path in an image. */
    static final String PATH = "/usr/share/doc/dra4j/sbom.cdx.json";

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private Sbom() {}

    static byte[] of(Inputs inputs, Image image, Jars jars, Base base, Jdk jdk) {
        try {
            ObjectNode sbom = jars.parts() == null
                    ? ofNames(jars)
                    : (ObjectNode) JSON.readTree(jars.parts().toFile());
            ObjectNode program = sbom.withObject("/metadata/component");
            if (!program.has("name")) {
                program.put("type", "application").put("name", image.name()).put("version", inputs.version());
            }
            program.put("description", image.description());
            sbom.withArray("/components").forEach(Sbom::noteChange);
            ObjectNode java = sbom.withArray("/components").addObject();
            String version = jdk.value("JAVA_RUNTIME_VERSION");
            java.put("type", "platform");
            java.put("bom-ref", "jdk");
            java.put("publisher", jdk.value("IMPLEMENTOR"));
            java.put("name", "OpenJDK");
            java.put("version", version);
            java.putArray("licenses").addObject().put("expression", "GPL-2.0-only WITH Classpath-exception-2.0");
            java.put(
                    "purl",
                    "pkg:generic/openjdk@" + encoded(version) + "?arch="
                            + base.debian().machine().architecture());
            for (String name : base.packages()) {
                debian(sbom.withArray("/components").addObject(), name, base.debian());
            }
            return JSON.writeValueAsBytes(sbom);
        } catch (IOException e) {
            throw new ImageBuildException(
                    "Can't read the SBOM of %s: build its module online with -Pimage, so that CycloneDX's plugin creates it: %s"
                            .formatted(image, e),
                    e);
        }
    }

    private static ObjectNode ofNames(Jars jars) {
        ObjectNode sbom = JSON.createObjectNode().put("bomFormat", "CycloneDX").put("specVersion", "1.6");
        sbom.put("version", 1);
        for (Path jar : jars.all().subList(1, jars.all().size())) {
            String file = jar.getFileName().toString();
            String name = file.replaceFirst("(-\\d.*)?\\.jar$", "");
            ObjectNode part = sbom.withArray("/components").addObject().put("type", "library");
            part.put("bom-ref", file).put("name", name);
            part.put("version", file.substring(name.length()).replaceAll("^-|\\.jar$", ""));
        }
        return sbom;
    }

    /** Notes how a jar differs from its release, whose hashes are not those of the image's jar. */
    private static void noteChange(JsonNode part) {
        if (part.path("name").asText().equals("picocli")) {
            ObjectNode picocli = (ObjectNode) part;
            picocli.remove("hashes");
            picocli.putObject("pedigree").put("notes", Picocli.CHANGE);
        }
    }

    private static void debian(ObjectNode component, String name, Debian debian) {
        String[] facts = debian.about(name, "--show", "--showformat=${Version} ${Architecture}")
                .split(" ");
        component.put("type", "library");
        component.put("bom-ref", "debian-" + name);
        component.put("name", name);
        component.put("version", facts[0]);
        component.put(
                "purl", "pkg:deb/%s/%s@%s?arch=%s".formatted(debian.distribution(), name, encoded(facts[0]), facts[1]));
    }

    private static String encoded(String version) {
        return version.replace("+", "%2B").replace(":", "%3A");
    }
}
