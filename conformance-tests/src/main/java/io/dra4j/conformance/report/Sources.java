// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.report;

import java.util.LinkedHashMap;
import java.util.Map;

/** What the short names of sources stand for that the catalogue writes in brackets. */
final class Sources {

    /** By short name. Behind a colon follow lines or a section. */
    static final Map<String, String> NAMES = new LinkedHashMap<>();

    static {
        NAMES.put("km", "Kubernetes, pkg/kubelet/cm/dra/manager.go");
        NAMES.put("kp", "Kubernetes, pkg/kubelet/cm/dra/plugin/dra_plugin_manager.go");
        NAMES.put(
                "kop",
                "Kubernetes, pkg/kubelet/pluginmanager/operationexecutor/operation_generator.go");
        NAMES.put("kw", "Kubernetes, pkg/kubelet/pluginmanager/pluginwatcher/README.md");
        NAMES.put("pb", "k8s.io/kubelet, pkg/apis/dra/v1/api.proto");
        NAMES.put("pbr", "k8s.io/kubelet, pkg/apis/pluginregistration/v1/api.proto");
        NAMES.put("pbh", "k8s.io/kubelet, pkg/apis/dra-health/v1alpha1/api.proto");
        NAMES.put("h", "k8s.io/dynamic-resource-allocation, kubeletplugin/draplugin.go");
        NAMES.put(
                "rs",
                "k8s.io/dynamic-resource-allocation, resourceslice/resourceslicecontroller.go");
        NAMES.put("rc", "k8s.io/dynamic-resource-allocation, resourceclaim/resourceclaim.go");
        NAMES.put("api", "k8s.io/api, resource/v1/types.go");
        NAMES.put("val", "Kubernetes, pkg/apis/resource/validation/validation.go");
        NAMES.put("K4381", "Kubernetes enhancement 4381, DRA with structured parameters");
        NAMES.put("e2e", "Kubernetes, test/e2e/dra/dra.go");
        NAMES.put("node", "Kubernetes, test/e2e_node/dra_test.go");
        NAMES.put("cdi", "Container Device Interface, SPEC.md");
        NAMES.put("cdig", "Container Device Interface, Go packages parser and cdi");
    }

    private Sources() {}
}
