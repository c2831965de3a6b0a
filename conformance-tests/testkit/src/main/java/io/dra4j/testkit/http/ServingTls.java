// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.http;

import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.jspecify.annotations.Nullable;

/** The TLS of a server whose CA can be replaced. Thread-safe. */
public final class ServingTls {

    private final SslContextFactory.Server settings = new SslContextFactory.Server();
    private @Nullable ServingCertificate current; // guarded by this; made when it is needed

    /**
     * The settings of the server's connectors.
     *
     * @throws IllegalStateException if a certificate cannot be made
     */
    public SslContextFactory.Server settings() {
        certificate();
        return settings;
    }

    /** The CA's certificate in PEM, as the {@code ca.crt} of a service account has it. */
    public String authority() {
        return certificate().authority();
    }

    private synchronized ServingCertificate certificate() {
        ServingCertificate made = current;
        if (made == null) {
            made = ServingCertificate.first();
            made.into(settings);
            current = made;
        }
        return made;
    }

    /** Makes another CA and certificate for new connections; open ones go on, and none is resumed. */
    public synchronized void replaceAuthority() {
        ServingCertificate made = ServingCertificate.make();
        try {
            settings.reload(any -> made.into(settings));
        } catch (Exception e) {
            throw new IllegalStateException("The certificate can't be replaced", e);
        }
        current = made;
    }
}
