// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.settings;

import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.rbac.ServiceAccountAccess;
import io.dra4j.testkit.settings.SettingsException;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The settings of {@code dra-conformance run}.
 *
 * @param driver the driver under test
 * @param apiServer the API server that the driver talks to
 * @param profiles the profiles to try; empty means all
 * @param only the requirements to try, by id, as {@link Requirement#fullId(String)} reads it; empty means all
 * @param skip requirements to leave out, by id; they make their profile partial
 * @param timeoutFactor the timeout factor, where no contract sets the time
 * @param strict whether SHOULDs that the catalogue marks as strict count as MUSTs
 * @param soak whether to repeat more often where that shows more, which takes minutes
 * @param seed the seed of everything random
 * @param implementation who made the driver, for the report
 * @param report the directory for the reports
 * @param knownFailures a file of known failures; empty if there is none
 */
public record Settings(
        TestedDriver driver,
        ApiServerSettings apiServer,
        List<String> profiles,
        List<String> only,
        List<String> skip,
        double timeoutFactor,
        boolean strict,
        boolean soak,
        long seed,
        Map<String, String> implementation,
        String report,
        String knownFailures) {

    public Settings {
        if (driver == null) {
            throw new SettingsException("driver is missing: what is to be tested");
        }
        apiServer = apiServer == null ? ApiServerSettings.EMBEDDED : apiServer;
        profiles = profiles == null ? List.of() : List.copyOf(profiles);
        only = only == null ? List.of() : only.stream().map(Requirement::fullId).toList();
        skip = skip == null ? List.of() : skip.stream().map(Requirement::fullId).toList();
        timeoutFactor = timeoutFactor == 0 ? 1 : timeoutFactor;
        if (!(timeoutFactor > 0 && timeoutFactor <= 100)) {
            throw new SettingsException("timeoutFactor must be between 0 and 100, not " + timeoutFactor);
        }
        implementation = implementation == null ? Map.of() : Map.copyOf(implementation);
        report = report == null || report.isEmpty() ? "dra-conformance-report" : report;
        knownFailures = knownFailures == null ? "" : knownFailures;
    }

    /**
     * The driver of these settings, with its ServiceAccount, and everything else as in others, so that two drivers can
     * be compared.
     */
    public Settings on(Settings others) {
        ApiServerSettings server = others.apiServer();
        return new Settings(
                driver,
                new ApiServerSettings(
                        server.kubernetes(),
                        server.featureGates(),
                        server.kubeconfig(),
                        server.context(),
                        apiServer.serviceAccount(),
                        apiServer.manifests()),
                others.profiles(),
                others.only(),
                others.skip(),
                others.timeoutFactor(),
                others.strict(),
                others.soak(),
                others.seed(),
                others.implementation(),
                others.report(),
                others.knownFailures());
    }

    /** The rights of the ServiceAccount that the settings name; SettingsException if manifests lack it. */
    public Optional<ServiceAccountAccess> access() {
        String release = apiServer.isEmbedded() ? apiServer.kubernetes() : "1.36"; // until the real one reports its own
        return apiServer.serviceAccount().isEmpty()
                ? Optional.empty()
                : Optional.of(new ServiceAccountAccess(
                        apiServer.serviceAccount(), apiServer.manifests(), driver.name(), release));
    }

    /**
     * The API server.
     *
     * @param kubernetes the release that the embedded one behaves as, for example {@code 1.36}; ignored with a real one
     * @param featureGates feature gates of DRA of the embedded one, in place of the release's defaults; none with a real
     *     one
     * @param kubeconfig a real one instead; empty for the embedded
     * @param context the kubeconfig's context; empty for its current one
     * @param serviceAccount whose RBAC the driver's requests are checked against, {@code namespace/name}; empty if they
     *     are all allowed
     * @param manifests files and folders with that ServiceAccount, its roles, admission policies, and their bindings
     */
    public record ApiServerSettings(
            String kubernetes,
            Map<String, Boolean> featureGates,
            String kubeconfig,
            String context,
            String serviceAccount,
            List<String> manifests) {

        public static final ApiServerSettings EMBEDDED = of("1.36", Map.of());

        /** The embedded one of a release, with gates in place of its defaults. */
        public static ApiServerSettings of(String kubernetes, Map<String, Boolean> featureGates) {
            return new ApiServerSettings(kubernetes, featureGates, "", "", "", List.of());
        }

        public ApiServerSettings {
            featureGates = featureGates == null ? Map.of() : Collections.unmodifiableMap(new TreeMap<>(featureGates));
            kubernetes = kubernetes == null || kubernetes.isEmpty() ? "1.36" : kubernetes;
            kubeconfig = kubeconfig == null ? "" : kubeconfig;
            if (kubeconfig.isEmpty()) {
                kubernetes = "1." + gates(kubernetes, featureGates).version().minor();
            } else if (!featureGates.isEmpty()) {
                throw new SettingsException(
                        "apiServer.featureGates (--feature-gates) are for the embedded API server, and apiServer.kubeconfig (--kubeconfig) names a real one, %s: set the gates where that server is started, and leave them out here"
                                .formatted(kubeconfig));
            }
            context = context == null ? "" : context;
            serviceAccount = serviceAccount == null ? "" : serviceAccount;
            manifests = manifests == null ? List.of() : List.copyOf(manifests);
            if (!serviceAccount.isEmpty() && !serviceAccount.matches("[^/]+/[^/]+")) {
                throw new SettingsException("apiServer.serviceAccount must be namespace/name, not " + serviceAccount);
            }
            if (serviceAccount.isEmpty() != manifests.isEmpty()) {
                throw new SettingsException(
                        "apiServer.serviceAccount and apiServer.manifests go together: whose rights, and the files that grant them");
            }
        }

        /** Returns the release of the embedded one, and its gates. */
        public FeatureGates gates() {
            return gates(kubernetes, featureGates);
        }

        private static FeatureGates gates(String release, Map<String, Boolean> gates) {
            try {
                Map<FeatureGate, Boolean> known = new EnumMap<>(FeatureGate.class);
                gates.forEach((name, on) -> known.put(FeatureGate.parse(name), on));
                return new FeatureGates(KubernetesVersion.parse(release), known);
            } catch (IllegalArgumentException e) {
                throw new SettingsException(e.getMessage());
            }
        }

        public boolean isEmbedded() {
            return kubeconfig.isEmpty();
        }
    }
}
