// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.admission;

import io.dra4j.runtime.AdmissionWebhook;
import java.nio.file.Path;

/** A webhook for {@link LaneConfigs} as a program, which ends with its input. */
final class WebhookProgram {

    private WebhookProgram() {}

    /** Serves with a certificate and its key, which the arguments name, and prints the port. */
    public static void main(String[] arguments) throws Exception {
        try (AdmissionWebhook webhook = AdmissionWebhook.of(
                        LaneConfigs.DRIVER, LaneConfigs.TYPES, Path.of(arguments[0]), Path.of(arguments[1]))
                .port(0)) {
            webhook.start();
            System.out.println(webhook.address().getPort());
            while (System.in.read() >= 0) {}
        }
    }
}
