// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Compares the public signatures of the module with {@code api.txt}, so that a review sees a change.
 *
 * <p>{@code mvn -pl sdk-api test -Dtest=ApiFileTest -Dapi.update} rewrites the file.
 */
class ApiFileTest {

    private static final Path FILE = Path.of("api.txt");

    @Test
    void theCommittedFileIsTheApi() throws Exception {
        List<String> actual = api();

        if (System.getProperty("api.update") != null) {
            Files.write(FILE, actual);
        }
        assertThat(Files.readAllLines(FILE))
                .as("api.txt; -Dapi.update rewrites it, and the commit gives the reason")
                .isEqualTo(actual);
    }

    @Test
    void theFileListsEveryKindOfSignature() throws Exception {
        assertThat(api())
                .contains(
                        "interface io.dra4j.api.DeviceProvider extends AutoCloseable",
                        "    abstract PreparedClaim prepare(AllocatedClaim, ClaimContext) throws Exception",
                        "sealed interface io.dra4j.api.device.AttributeValue permits OfString, OfInt,"
                                + " OfBool, OfVersion, OfStrings, OfInts, OfBools, OfVersions",
                        "    static NodeSelector labelIn(String, String...)",
                        "final enum io.dra4j.api.health.HealthState",
                        "    constant HEALTHY",
                        "    static final String PCI_BUS_ID = resource.kubernetes.io/pciBusID",
                        "    default List<ConfigType<?>> configTypes()",
                        "    <T> AppliedConfig<T> config(ConfigType<T>)");
    }

    private static List<String> api() throws IOException, URISyntaxException {
        Path classes = Path.of(DeviceProvider.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (Stream<Path> files = Files.walk(classes)) {
            return files.map(file -> classes.relativize(file).toString())
                    .filter(file -> file.endsWith(".class") && !file.contains("-info"))
                    .map(file -> file.substring(0, file.length() - 6).replace('/', '.'))
                    .sorted()
                    .map(ApiFileTest::load)
                    .filter(Signatures::isVisible)
                    .flatMap(type -> Signatures.of(type).stream())
                    .toList();
        }
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, DeviceProvider.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException("A class file of the module has another name", e);
        }
    }
}
