// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

/**
 * Names of the attributes that have the same meaning for every driver.
 *
 * <p>With them, one claim can match devices of several drivers: a GPU and a NIC under one PCIe root, for instance.
 *
 * @see <a href="https://github.com/kubernetes/dynamic-resource-allocation/tree/master/deviceattribute">
 *     deviceattribute</a>
 */
public final class StandardAttributes {

    /** The PCIe root complex, as a string of the form {@code pci0000:00}. */
    public static final String PCIE_ROOT = "resource.kubernetes.io/pcieRoot";

    /** The PCI address, as a lower-case string of the form {@code 0000:65:00.0}. */
    public static final String PCI_BUS_ID = "resource.kubernetes.io/pciBusID";

    /** The NUMA node as an int, or a list that begins with the node; left out if unknown. */
    public static final String NUMA_NODE = "resource.kubernetes.io/numaNode";

    private StandardAttributes() {}
}
