{
  "targets": [
    {
      "target_name": "foldstep",
      "type": "none",
      "actions": [
        {
          "action_name": "cmake",
          "inputs": ["CMakeLists.txt"],
          "outputs": ["build/Release/foldstep.node"],
          "action": ["node", "scripts/build-native.mjs"]
        }
      ]
    }
  ]
}
