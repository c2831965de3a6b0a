// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.settings;

import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.ExternalDriver;
import io.dra4j.testkit.driver.ExternalSettings;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.driver.ProcessSettings;
import io.dra4j.testkit.settings.SettingsException;
import java.util.Optional;

/** The adapters that settings can name. */
public final class DriverAdapters {

    private DriverAdapters() {}

    public static DriverAdapter of(TestedDriver settings) {
        return switch (settings.kind()) {
            case PROCESS -> process(settings);
            case EXTERNAL -> external(settings);
            case IN_PROCESS ->
                throw new SettingsException("driver.kind in-process is for tests in Java; use process here");
        };
    }

    private static DriverAdapter process(TestedDriver settings) {
        ProcessSettings process = Optional.ofNullable(settings.process()).orElseThrow();
        return new ProcessDriver(process, settings.cdiDirectories(), settings.startTimeout());
    }

    private static DriverAdapter external(TestedDriver settings) {
        ExternalSettings external = Optional.ofNullable(settings.external()).orElseThrow();
        return new ExternalDriver(external, settings.cdiDirectories(), settings.hooks(), settings.startTimeout());
    }
}
