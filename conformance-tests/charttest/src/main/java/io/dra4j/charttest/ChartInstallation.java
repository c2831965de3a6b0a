// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One installation of a chart.
 *
 * @param release the name of the release
 * @param namespace the namespace that it goes into
 * @param kubernetes the version of the API server, for example {@code 1.36.0}
 * @param files files of values, the last of which overrides the others
 * @param values single values by their path, which override the files
 */
public record ChartInstallation(
        String release, String namespace, String kubernetes, List<Path> files, Map<String, Object> values) {

    /** The installation with default values, on the release that most tests use. */
    public static final ChartInstallation DEFAULT =
            new ChartInstallation("dra", "dra-system", "1.36.0", List.of(), Map.of());

    public ChartInstallation {
        files = List.copyOf(files);
        values = Map.copyOf(values);
    }

    /** The same with another name. */
    public ChartInstallation release(String name) {
        return new ChartInstallation(name, namespace, kubernetes, files, values);
    }

    /** The same in another namespace. */
    public ChartInstallation namespace(String name) {
        return new ChartInstallation(release, name, kubernetes, files, values);
    }

    /** The same for another API server. */
    public ChartInstallation kubernetes(String version) {
        return new ChartInstallation(release, namespace, version, files, values);
    }

    /** The same with one more file of values. */
    public ChartInstallation file(Path file) {
        List<Path> more = new ArrayList<>(files);
        more.add(file);
        return new ChartInstallation(release, namespace, kubernetes, more, values);
    }

    /** The same with one more value. */
    public ChartInstallation set(String path, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(values);
        more.put(path, value);
        return new ChartInstallation(release, namespace, kubernetes, files, more);
    }
}
