// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import io.dra4j.conformance.context.KubernetesServer;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The driver that was tested, and the suite that tested it.
 *
 * @param suiteVersion the release of the suite
 * @param catalogueVersion the edition of the catalogue
 * @param seed the seed of everything random
 * @param driverKind {@code process}, {@code external} or {@code in-process}
 * @param services the DRA services that it declares
 * @param implementation who made it: organization, project, url, version, contact, language
 * @param detected the capabilities that were seen
 * @param declared the capabilities that its vendor claims
 */
public record Header(
        String suiteVersion,
        String catalogueVersion,
        long seed,
        KubernetesServer kubernetes,
        String driverKind,
        String driverName,
        List<String> services,
        Map<String, String> implementation,
        List<String> detected,
        List<String> declared,
        double timeoutFactor,
        boolean strict,
        Instant started,
        Duration took,
        String settings) {

    public Header {
        services = List.copyOf(services);
        implementation = Map.copyOf(implementation);
        detected = List.copyOf(detected);
        declared = List.copyOf(declared);
    }
}
