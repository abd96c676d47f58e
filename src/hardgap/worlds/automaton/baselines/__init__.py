"""What similarity alone can do with the gap: interpolation methods behind one fit/predict contract."""
