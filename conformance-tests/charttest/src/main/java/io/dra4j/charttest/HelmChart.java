// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.charttest;

import com.fasterxml.jackson.databind.JsonNode;
import com.marcnuri.helm.Helm;
import com.marcnuri.helm.InstallCommand;
import com.marcnuri.helm.LintResult;
import com.marcnuri.helm.TemplateCommand;
import java.nio.file.Path;
import java.util.List;

/**
 * A chart in the file system, as Helm itself reads it.
 *
 * @param folder the folder of {@code Chart.yaml}, or an archive
 */
public record HelmChart(Path folder) {

    private static final String NO_ICON = "[INFO] Chart.yaml: icon is recommended";

    /** Returns what {@code helm lint --strict} finds, except for the advice to have an icon. */
    public List<String> lint() {
        LintResult result = new Helm(folder).lint().strict().call();
        List<String> messages = result.getMessages().stream()
                .filter(line -> !line.equals(NO_ICON))
                .toList();
        return result.isFailed() && messages.isEmpty() ? List.of("lint failed") : messages;
    }

    /**
     * Renders what an installation would send to the API server. Objects without a namespace go into the
     * installation's.
     *
     * @throws IllegalStateException with Helm's message if the chart or its schema refuses that
     */
    public Manifests render(ChartInstallation installation) {
        TemplateCommand command = new Helm(folder)
                .template()
                .withName(installation.release())
                .withNamespace(installation.namespace())
                .withKubeVersion(installation.kubernetes());
        installation.files().forEach(command::withValuesFile);
        installation.values().forEach(command::set);
        Manifests manifests = Manifests.of(command.call());
        manifests.objects().stream()
                .filter(StrictDecoder::isNamespaced)
                .map(object -> object.withObject("/metadata"))
                .filter(metadata -> !metadata.has("namespace"))
                .forEach(metadata -> metadata.put("namespace", installation.namespace()));
        return manifests;
    }

    /** Returns what Helm prints after an installation, the chart's notes included. */
    public String output(ChartInstallation installation) {
        InstallCommand command = new Helm(folder)
                .install()
                .clientOnly()
                .dryRun()
                .withName(installation.release())
                .withNamespace(installation.namespace())
                .withKubeVersion(installation.kubernetes());
        installation.files().forEach(command::withValuesFile);
        installation.values().forEach(command::set);
        return command.call().getOutput();
    }

    /** Packages the chart with the library in it, and returns the archive. */
    public Path packageInto(Path target) {
        new Helm(folder).packageIt().withDestination(target).call();
        JsonNode chart = Manifests.file(folder.resolve("Chart.yaml"));
        return target.resolve("%s-%s.tgz"
                .formatted(chart.path("name").asText(), chart.path("version").asText()));
    }
}
