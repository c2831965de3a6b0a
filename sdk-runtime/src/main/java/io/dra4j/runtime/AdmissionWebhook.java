// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.error.DraException;
import io.dra4j.runtime.internal.admission.AdmissionService;
import io.dra4j.runtime.internal.http.HttpPages;
import io.dra4j.runtime.internal.tls.ServerCertificate;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A validating admission webhook: refuses claims whose configurations the driver can't prepare.
 *
 * <p>It answers reviews of ResourceClaims and ResourceClaimTemplates of all versions of {@code resource.k8s.io} since
 * v1beta1 over HTTPS, at {@code /validate-resource-claim-parameters}; {@code /readyz} and {@code /healthz} are for
 * probes. An entry for the driver is decoded, normalized and validated as in a prepare call, and refused with the same
 * message. Entries for other drivers are not read.
 *
 * <p>It needs no node, no API server and no hardware, and keeps no state: any number of replicas may run. {@link
 * DriverMain} runs it as the command {@code webhook}.
 *
 * <p>The JDK's server looks up the name of each client that connects. If no name server answers, that takes seconds,
 * unless the host sets the system property {@code jdk.net.hosts.file} before its first use of an address; {@code
 * DriverMain} does.
 */
public final class AdmissionWebhook implements AutoCloseable {

    private final String driverName;
    private final List<ConfigType<?>> configTypes;
    private final Path certificate;
    private final Path key;
    private int port = 443;
    private Set<String> extendedResources = Set.of();
    private @Nullable HttpPages running;

    private AdmissionWebhook(String driverName, List<ConfigType<?>> configTypes, Path certificate, Path key) {
        this.driverName = driverName;
        this.configTypes = configTypes;
        this.certificate = certificate;
        this.key = key;
    }

    /**
     * Creates a webhook, not yet started.
     *
     * @param driverName the name of the driver whose configurations are checked
     * @param configTypes the configurations that the driver understands, as its {@link
     *     io.dra4j.api.DeviceProvider#configTypes} returns them
     * @param certificate a file with the server's certificate in PEM, followed by those of its issuers; it is reloaded
     *     when it changes, and open connections stay
     * @param key a file with the certificate's private key in PEM
     * @return the webhook
     */
    public static AdmissionWebhook of(String driverName, List<ConfigType<?>> configTypes, Path certificate, Path key) {
        return new AdmissionWebhook(
                Objects.requireNonNull(driverName, "driverName"),
                List.copyOf(configTypes),
                Objects.requireNonNull(certificate, "certificate"),
                Objects.requireNonNull(key, "key"));
    }

    /**
     * Sets the port, on all addresses; 443 by default.
     *
     * @param port the port; 0 for any that is free
     * @return this webhook
     */
    public AdmissionWebhook port(int port) {
        this.port = port;
        return this;
    }

    /**
     * Sets resources that pods must not request, for namespaces whose devices are requested only by claims; none by
     * default.
     *
     * <p>Pods that request one are refused at {@code /validate-pods}. The webhook's configuration in the cluster
     * selects the namespaces.
     *
     * @param names the resources, such as {@code nvidia.com/gpu}
     * @return this webhook
     */
    public AdmissionWebhook refuseExtendedResources(Collection<String> names) {
        this.extendedResources = Set.copyOf(names);
        return this;
    }

    /**
     * Starts serving, and returns.
     *
     * @throws DraException if the certificate or the key can't be used, or the port is not free
     * @throws IllegalStateException if it was started before
     */
    public synchronized void start() {
        if (running != null) {
            throw new IllegalStateException("A webhook can be started only once");
        }
        InetSocketAddress address = new InetSocketAddress(port);
        try {
            running = AdmissionService.start(
                    address, ServerCertificate.read(certificate, key), driverName, configTypes, extendedResources);
        } catch (IllegalArgumentException e) {
            throw new DraException(e.getMessage() + "; the webhook needs a certificate and its key in PEM files", e);
        } catch (IOException e) {
            throw new DraException(
                    "Can't serve HTTPS on port %d (%s); choose another port".formatted(port, e.getMessage()), e);
        }
    }

    /**
     * Returns the address at which it serves.
     *
     * @return the address
     * @throws IllegalStateException if it was not started
     */
    public synchronized InetSocketAddress address() {
        if (running == null) {
            throw new IllegalStateException("The webhook was not started");
        }
        return running.address();
    }

    /** Stops immediately. */
    @Override
    public synchronized void close() {
        if (running != null) {
            running.close();
        }
    }
}
